"Scores of simulated fields, by hand."
import numpy as np
import pytest
import xarray as xr

from ubic.validation import state_bic


def test_score_by_hand():
    zeros = xr.Dataset({"u": (("x", "t"), np.zeros((20, 30)))})
    assert state_bic(zeros, zeros + 0.1, 2) == pytest.approx(600*(1 + np.log(2*np.pi*0.01)) + 2*np.log(600))
    assert state_bic(zeros.where(zeros.t < 5), zeros, 2) == np.inf


def test_score_asks_for_one_grid():
    rng = np.random.default_rng(0)
    field = xr.Dataset({"u": (("x", "t"), rng.normal(size=(9, 9)))}, {"x": np.arange(9.0), "t": np.arange(9.0)})
    assert state_bic(field.transpose("t", "x"), field, 1) == state_bic(field, field, 1)
    with pytest.raises(ValueError, match="same axes and coordinates"):
        state_bic(field.assign_coords(x=field.x + 5), field, 1)
    with pytest.raises(TypeError, match="`simulated` is a ndarray"): state_bic(field.u.values, field, 1)
    with pytest.raises(ValueError, match="`k` is -2"): state_bic(field, field, -2)
