"Posteriors and evidence on systems with answers known by hand."
import numpy as np
import pytest
from matplotlib.figure import Figure

import ubic
from fits import bars
from signs import signs, two_terms
from ubic.system import LinearSystem

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


def test_bic_counts_independent_rows():
    "BIC is n log(what is left) + terms · log n, and n is the number of independent rows."
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, 0.1, rows=64, n_eff=16)))
    total = 1 + 0.5**2 + 0.1**2
    first = 16*np.log((0.5**2 + 0.1**2)/total) + np.log(16)
    second = 16*np.log(0.1**2/total) + 2*np.log(16)
    np.testing.assert_allclose(found.bic, [first, second])


def test_all_rows_count_when_asked_for():
    path = ubic.best_subsets(two_terms(0.5, 0.1, rows=64, n_eff=16))
    left = np.array([0.5**2 + 0.1**2, 0.1**2])/(1 + 0.5**2 + 0.1**2)
    bic = 64*np.log(left) + np.log(64)*np.array([1, 2])
    np.testing.assert_allclose(ubic.posterior.evidence(path, n_eff=None).bic, bic)


def test_there_are_no_more_independent_rows_than_rows():
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, 0.1, rows=64, n_eff=200)))
    whole = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, 0.1, rows=64)))
    assert found.n == 64
    np.testing.assert_allclose(found.bic, whole.bic)


@pytest.mark.parametrize("n_eff, std", [(None, 0.05), (16, 0.1), (4, 0.2)]) # 0.4/√64, 0.4/√16, 0.4/√4
def test_standard_deviations_count_independent_rows(n_eff, std):
    "What is left, over the root of the number of independent rows: the standard deviation of a mean."
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, 0.4, rows=64, n_eff=n_eff)))
    mean, spread = found.coefficients(1)
    np.testing.assert_allclose(mean, [1, 0.5])
    np.testing.assert_allclose(spread, std)


@pytest.mark.parametrize("left", [0.1, 0.2, 0.8])
def test_standard_deviations_grow_with_what_is_left(left):
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, left, rows=64)))
    np.testing.assert_allclose(found.coefficients(1)[1], left/8)


def test_posterior_of_one_coefficient_by_hand():
    "Of 64 rows of variance 0.25 with a prior of variance 1: 1/(64/0.25 + 1)."
    h1, _ = signs(64, 2)
    belief = ubic.posterior.posterior(h1[:, None], 2*h1, 0.25)
    np.testing.assert_allclose(belief.cov, [[1/(64/0.25 + 1)]])


@pytest.mark.parametrize("mean", [(3, -4), (-3, 4), (7, 0)])
def test_the_spread_of_coefficients_is_a_ratio_of_sums(mean):
    "Eq. (8): deviations of 1 and 2 are 3 together, sizes of 3 and 4 are 7; their roots of squares are √5 and 5."
    belief = ubic.posterior.Posterior(np.array(mean, float), np.diag([1.0**2, 2.0**2]), 1.0)
    assert belief.cv == pytest.approx(3/7)


def test_a_picture_shows_two_standard_deviations():
    "A coefficient is drawn in units of its own deviation, whether that is 1 or 2."
    belief = ubic.posterior.Posterior(np.array([3.0, -4.0]), np.diag([1.0**2, 2.0**2]), 1.0)
    assert bars(belief.plot(ax=Figure().subplots())) == pytest.approx([2, 2])


def test_uncertainty_is_a_multiple_of_the_least():
    "Coefficients 1, then 1 and 0.5: the deviations are what is left over √64, the spreads their sums over 1 and 1.5."
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, 0.4, rows=64)))
    spread = np.array([np.sqrt(0.5**2 + 0.4**2)/8, 2*0.4/8/1.5])
    np.testing.assert_allclose(found.cv, spread)
    np.testing.assert_allclose(found.uncertainty, spread/min(spread))


def test_terms_that_cannot_be_told_apart_have_wide_intervals():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    X[:, 1] = X[:, 0] + 1e-6*X[:, 1]
    path = ubic.best_subsets(LinearSystem(X, X[:, 0] + 0.5*rng.standard_normal(100)))
    assert (ubic.select(path).evidence.coefficients(1)[1] > 1e4).all()
