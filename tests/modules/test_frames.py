"Which frames are taken for one period."
import pytest

import ubic
from ubic.spectral import is_periodic

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


def test_ends_that_fit_together():
    for name in ("burgers", "kdv"):
        for noise in (1, 100):
            field = ubic.add_noise(getattr(ubic.datasets, name)(), noise, seed=0)
            assert is_periodic(field)["x"]
    assert not is_periodic(ubic.datasets.kdv().isel(x=slice(100, 300)))["x"]
