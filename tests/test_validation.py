"""Does an equation reproduce the data? Simulation with fitted starts."""
import numpy as np
import pytest
import xarray as xr

import ubic
from ubic.spectral import is_periodic
from ubic.validation import state_bic, validate

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


@pytest.fixture(scope="module")
def burgers(): return ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0))


def test_the_true_size_wins_and_reproduces(burgers):
    validation = validate(burgers)
    assert validation.wins and validation.size == 2 and validation.reproduces and validation.margin > 5
    assert (np.abs(np.array(validation.equations[0].coef) - [0.1, -1.0]) < 4*np.array(validation.equations[0].std)).all()
    assert list(validation.scores["size"]) == [2, 3, 1] and "behind in BIC" in repr(validation)


def test_the_number_of_windows_does_not_decide(burgers):
    for windows in (1, 2, 8): assert validate(burgers, windows=windows).wins


def test_divergence_is_scored(burgers):
    validation = validate(burgers, competitors=[{"u_xx": -0.1, "u*u_x": -1.0}])
    assert np.isinf(validation.scores["BIC"].iloc[1]) and validation.scores["diverged at"].iloc[1] > 0 and "diverges" in repr(validation)


def test_a_wrong_equation_does_not_reproduce(burgers):
    wrong = ubic.select(ubic.best_subsets(ubic.library.weak(burgers.field), 1))
    validation = validate(wrong, burgers.field)
    assert not validation.reproduces and not validation.wins or validation.size == 1


def test_same_result_again(burgers):
    one, two = (validate(burgers, competitors=[]) for _ in range(2))
    assert one.scores.equals(two.scores) and one.margin == np.inf


def test_score_by_hand():
    zeros = xr.Dataset({"u": (("x", "t"), np.zeros((20, 30)))})
    assert state_bic(zeros, zeros + 0.1, 2) == pytest.approx(600*(1 + np.log(2*np.pi*0.01)) + 2*np.log(600))
    assert state_bic(zeros.where(zeros.t < 5), zeros, 2) == np.inf


def test_ends_that_fit_together():
    for name in ("burgers", "kdv"):
        for noise in (1, 100):
            field = ubic.add_noise(getattr(ubic.datasets, name)(), noise, seed=0)
            assert is_periodic(field)["x"]
    assert not is_periodic(ubic.datasets.kdv().isel(x=slice(100, 300)))["x"]


@pytest.mark.parametrize("wrong, message", [(dict(with_="dice"), "`with_` must be"), (dict(windows=0), "`windows` is 0"), (dict(windows=90), "`windows` is 90"), (dict(competitors={"u_xx": 1.0}), "must be a list"), (dict(competitors=[3]), "must hold mappings"), (dict(layers=3), "`layers` is a setting")])
def test_odd_arguments(burgers, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message): validate(burgers, **wrong)


def test_a_selection_needs_data(burgers):
    with pytest.raises(ValueError, match="`data` is missing"): validate(burgers["u"])
    with pytest.raises(TypeError, match="`found` must be"): validate("u_xx")
