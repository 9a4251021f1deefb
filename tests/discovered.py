"Burgers' equation found in 30 % noise, by the defaults and as the paper does it."
import pytest

import ubic


@pytest.fixture(scope="module")
def found():
    "A discovery by the defaults."
    return ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0))


@pytest.fixture(scope="module")
def paper(found):
    "The choice of the paper from the same path."
    return ubic.select(found["u"].path, mode="paper")
