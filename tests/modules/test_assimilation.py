"A field as simulations see it: noise that is there, starts and coefficients of a known equation."
import numpy as np
import pytest

from signs import heat_waves
from ubic.language.terms import Term
from ubic.trial.assimilation import NOISE_FLOOR, StartProblem, Twin, fit_starts, visible_noise
from ubic.trial.competitors import read_sides


def test_noise_has_a_floor():
    clean = heat_waves(0, noise=0)
    assert visible_noise(heat_waves(0, noise=0.02))["u"] == pytest.approx(0.02, rel=0.1)
    assert visible_noise(clean) == {"u": pytest.approx(NOISE_FLOOR*float(clean.u.std()))}


def test_starts_and_a_coefficient_are_found_from_another():
    "Three waves fade with the coefficient 0.5; the fit begins at 0.3."
    twin = Twin(heat_waves(0, noise=0.02), 2, {"x": True})
    fit = fit_starts(StartProblem(twin, read_sides({"u": {"u_xx": 0.3}})))
    (found,), = (terms.values() for terms in fit.pde.values())
    assert fit.reproduces and found == pytest.approx(0.5, abs=4*fit.std[0]) and fit.std[0] < 0.01
    assert np.shape(fit.frames)[:2] == (1, 2)


def test_a_fitted_run_is_less_sure_the_more_is_left():
    "Without its decay the equation leaves more than noise, and its standard deviation grows by as much."
    pde = {"u_t": {Term.parse("u_xx"): 0.5}}
    def fit(decay): return fit_starts(StartProblem(Twin(heat_waves(decay), 2, {"x": True}), pde))
    whole, lacking = map(fit, (0, 0.2))
    assert whole.reproduces and lacking.left > 1.5*whole.left
    assert lacking.std[0]/whole.std[0] == pytest.approx(lacking.left/whole.left, rel=0.1)
