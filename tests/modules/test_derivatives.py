"Differences against findiff and polynomials, and powers without the bias of noise."
import warnings

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.signal import savgol_filter

import ubic
from ubic.field import as_field
from ubic.library import difference
from ubic.terms import Term
from ubic.weakform.derivatives import local_fits, times_along

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_differences_are_those_of_findiff(d, axis):
    findiff = pytest.importorskip("findiff", reason="findiff is not installed; it comes with the extra ubic[dev]")
    u = np.random.default_rng(d).standard_normal((15, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = findiff.FinDiff(axis, 0.3, d, acc=4)(u)
    ours = difference(u, 0.3, d, axis, accuracy=4)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11*np.abs(theirs).max())


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("accuracy", [2, 4, 6])
def test_differences_are_exact_for_polynomials(d, accuracy):
    x = np.linspace(-1, 1, 21)
    u = Polynomial(np.random.default_rng(0).standard_normal(d + accuracy)) # degree d + accuracy - 1
    exact = u.deriv(d)(x)
    ours = difference(u(x), 0.1, d, accuracy=accuracy)
    np.testing.assert_allclose(ours, exact, rtol=0, atol=1e-8*np.abs(exact).max())


def test_compiled_differences_are_plain_ones():
    u = np.random.default_rng(0).standard_normal((9, 10, 11))
    for axis in range(3):
        plain = np.gradient(u, 0.1, axis=axis, edge_order=2)
        np.testing.assert_allclose(difference(u, 0.1, 1, axis), plain, rtol=0, atol=1e-12)
        plain = np.gradient(u[::2, ::-1], 0.1, axis=axis, edge_order=2)
        np.testing.assert_allclose(difference(u[::2, ::-1], 0.1, 1, axis, 2), plain, rtol=0, atol=1e-12)


def test_powers_lose_the_bias_of_noise():
    "A cubic equation in noise: the linear term that plain cubes call for is gone."
    rng, s = np.random.default_rng(0), np.linspace(0, 2, 400)
    start = rng.uniform(0.3, 1.5, 300)[:, None]
    u = 1/np.sqrt(1/start**2 + 2*s) # u_t = -u³
    field = ubic.add_noise(as_field(u, x=np.arange(300.0), t=s), 30, seed=0)
    from ubic.weakform.derivatives import Jets
    from ubic.weakform.library import noise_of_unknowns
    from ubic.weakform.derivatives import plain_differences
    from ubic.data.survey import as_survey
    terms = [Term.parse("u^3")]
    jets = Jets(field, plain_differences(2), {"x": 1.0, "t": s[1]}, noise_of_unknowns(as_survey(field), terms, ()))
    plain, unbiased = float((field.u**3).mean()), float(jets.power("u", "", 3).mean())
    assert abs(unbiased - (u**3).mean()) < 0.1*abs(plain - (u**3).mean())
    assert noise_of_unknowns(as_survey(field), [Term.parse("u_x")], ()) == {}
    assert noise_of_unknowns(as_survey(field), terms, ("u",)) == {}


@pytest.mark.parametrize("d", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("size, half", [(40, 3), (40, 7), (15, 7)])
def test_local_fits_are_savitzky_golay(size, half, d):
    "At the ends too, and where one window holds the whole axis."
    u = np.random.default_rng(d).standard_normal((3, size, 2))
    theirs = savgol_filter(u, 2*half + 1, 4, deriv=d, axis=1)
    ours = times_along(local_fits(size, half, d), u, 1)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12*np.abs(theirs).max())


def test_local_fits_have_any_degree():
    u = np.random.default_rng(0).standard_normal((30, 4))
    ours = times_along(local_fits(30, 5, 0, 2), u, 0)
    np.testing.assert_allclose(ours, savgol_filter(u, 11, 2, axis=0), rtol=0, atol=1e-12)


def test_times_along_is_a_product_along_one_axis():
    rng = np.random.default_rng(0)
    u, matrix = rng.standard_normal((3, 5, 4)), rng.standard_normal((2, 5))
    np.testing.assert_allclose(times_along(matrix, u, 1), np.einsum("kj,ijl->ikl", matrix, u), atol=1e-14)
