"""Relevance determination: the evidence rises, units and order do not matter, odd inputs are answered, and the
published fits come out."""
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ubic.criterion import select
from ubic.field import UbicWarning
from ubic.relevance import Relevance, Step, aggregate, ard, climb, plot_thresholds, state_of
from ubic.sampling import likelihood
from ubic.subsets import SubsetPath
from ubic.system import LinearSystem, from_triangle
from ubic.terms import candidates

quick = settings(deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def systems(draw, most=8):
    "Correlated columns of different sizes; a sparse target with little or much noise."
    p, seed = draw(st.integers(2, most)), draw(st.integers(0, 10**6))
    mixing, noise = draw(st.sampled_from([0.0, 0.9])), draw(st.sampled_from([1e-3, 0.3, 3.0]))
    rng = np.random.default_rng(seed)
    own, common = rng.standard_normal((80, p)), rng.standard_normal((80, 1))
    X = (own*np.sqrt(1 - mixing) + common*np.sqrt(mixing))*10.0**rng.uniform(-2, 2, p)
    coef = np.r_[1.0, rng.standard_normal(p - 1)*(rng.random(p - 1) < 0.4)]/X.std(axis=0)
    return LinearSystem(X, X @ coef + noise*rng.standard_normal(80))


def tiny(noise=0.5, rows=500):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((rows, 4))
    return X, LinearSystem(X, X[:, 0] - 0.5*X[:, 1] + noise*rng.standard_normal(rows))


# --- the climb --------------------------------------------------------------------------------------------------------

@quick
@given(systems(), st.sampled_from(["paper", "unit_free"]))
def test_evidence_never_decreases(system, mode):
    like = likelihood(system, mode)
    evidence = np.array([state.log_evidence for state in climb(like.R, like.q, like.n)])
    assert np.all(np.diff(evidence) > -1e-9*np.abs(evidence[1:]).max())


@quick
@given(systems())
def test_end_is_a_summit_of_the_written_out_evidence(system):
    like = likelihood(system, "paper")
    *_, last = climb(like.R, like.q, like.n)
    precision = np.full(system.p, np.inf)
    precision[last.inside] = 1/(last.mean**2 + np.diag(last.cov)) # where expectation maximisation stands still
    def long(precision, variance):
        C = variance*np.eye(system.n) + system.X/precision @ system.X.T
        return -(system.n*np.log(2*np.pi) + np.linalg.slogdet(C)[1] + system.y @ np.linalg.solve(C, system.y))/2
    top = long(precision, last.variance)
    assert top == pytest.approx(last.log_evidence, abs=1e-5)
    for j in range(system.p):
        for factor in (0.8, 1.25):
            other = precision.copy()
            at_most = np.linalg.norm(system.X[:, j])**2/last.variance/100
            other[j] = precision[j]*factor if np.isfinite(precision[j]) else factor*at_most
            assert long(other, last.variance) < top + 1e-6
    for factor in (0.8, 1.25): assert long(precision, factor*last.variance) < top


def test_quantities_of_a_candidate_are_those_without_it():
    X, system = tiny(rows=60)
    like, precision = likelihood(system, "paper"), np.array([2.0, 0.5, np.inf, np.inf])
    state = state_of(like.R, like.q, like.n, precision, 0.4)
    for j in range(4):
        rest = np.delete(np.arange(4), j)
        C = 0.4*np.eye(60) + X[:, rest]/precision[rest] @ X[:, rest].T
        assert state.sparsity[j] == pytest.approx(X[:, j] @ np.linalg.solve(C, X[:, j]))
        assert state.quality[j] == pytest.approx(X[:, j] @ np.linalg.solve(C, system.y))


def test_agrees_with_scikit_learn():
    from sklearn.linear_model import ARDRegression
    X, system = tiny()
    flat = dict(alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, fit_intercept=False)
    theirs = ARDRegression(threshold_lambda=1e6, tol=1e-8, max_iter=2000, **flat).fit(X, system.y)
    ours = ard(system, mode="paper")
    assert ours.support == tuple(np.flatnonzero(theirs.coef_))
    np.testing.assert_allclose(ours.coef, theirs.coef_[list(ours.support)], rtol=1e-4)
    np.testing.assert_allclose(ours.std, np.sqrt(np.diag(theirs.sigma_)), rtol=1e-2)


# --- units and order --------------------------------------------------------------------------------------------------

@quick
@given(systems(), st.sampled_from(["paper", "unit_free"]), st.integers(0, 1000))
def test_units_do_not_matter(system, mode, seed):
    factors = 10.0**np.random.default_rng(seed).uniform(-3, 3, system.p)
    here, there = ard(system, mode=mode), ard(LinearSystem(system.X*factors, 5*system.y), mode=mode)
    assert here.support == there.support
    unit, zero = factors[list(here.support)]/5, 1e-6*np.abs(here.coef).max(initial=0)
    np.testing.assert_allclose(there.coef*unit, here.coef, rtol=1e-4, atol=zero)
    np.testing.assert_allclose(there.std*unit, here.std, rtol=1e-3)


@quick
@given(systems(), st.sampled_from(["paper", "unit_free"]), st.integers(0, 1000))
def test_order_of_candidates_does_not_matter(system, mode, seed):
    order = np.random.default_rng(seed).permutation(system.p)
    here, there = ard(system, mode=mode), ard(LinearSystem(system.X[:, order], system.y), mode=mode)
    assert here.support == tuple(sorted(order[list(there.support)]))


def test_unit_free_thresholds_do_not_know_units():
    X, system = tiny()
    factors = np.array([1e3, 1e-2, 1.0, 50.0])
    here, there = ard(system, 0.6), ard(LinearSystem(X*factors, system.y), 0.6)
    assert [step.support for step in here.steps] == [step.support for step in there.steps] and here.support == (0,)


def test_only_the_triangle_is_needed():
    _, system = tiny()
    np.testing.assert_allclose(ard(from_triangle(system.R, system.n)).coef, ard(system).coef)


# --- thresholds -------------------------------------------------------------------------------------------------------

@quick
@given(systems(), st.sampled_from([0.0, 0.01, 0.1, 0.5]))
def test_thresholds_only_take_away(system, threshold):
    try: found = ard(system, threshold)
    except ValueError as error:
        assert str(error).startswith("`threshold`")
        return
    for before, after in zip(found.steps, found.steps[1:]): assert set(after.support) < set(before.support)
    assert np.all(np.abs(found.steps[-1].posterior.mean) > threshold)


def test_no_threshold_is_one_fit():
    _, system = tiny()
    assert len(ard(system).steps) == len(ard(system, 0).steps) == 1 and ard(system).threshold == 0


@pytest.mark.parametrize("threshold, error, match", [
    (-1, ValueError, "`threshold` is -1; give"),
    (np.nan, ValueError, "`threshold` is nan"),
    (np.inf, ValueError, "finite"),
    ("0.1", TypeError, "`threshold` is '0.1'"),
    (True, TypeError, "`threshold`"),
    (9, ValueError, r"largest coefficient is .* \(x0\).*smaller"),
])
def test_bad_thresholds(threshold, error, match):
    with pytest.raises(error, match=match): ard(tiny()[1], threshold, mode="paper")


def test_other_bad_inputs():
    X, system = tiny()
    with pytest.raises(TypeError, match="`system` must be a LinearSystem"): ard(X)
    with pytest.raises(ValueError, match="`mode`"): ard(system, mode="si")
    with pytest.raises(ValueError, match="`n_eff`"): ard(system, n_eff=0)


# --- odd data ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("mode", ["paper", "unit_free"])
def test_perfect_fit(mode):
    found = ard(tiny(noise=0)[1], mode=mode)
    assert found.support == (0, 1) and np.isfinite(found.std).all()
    np.testing.assert_allclose(found.coef, [1, -0.5], rtol=1e-6)


@pytest.mark.filterwarnings("ignore:these terms are combinations")
@pytest.mark.parametrize("noise", [0, 0.5])
@pytest.mark.parametrize("mode", ["paper", "unit_free"])
def test_dependent_candidates_stay_out(mode, noise):
    X, system = tiny(noise)
    twins = LinearSystem(np.column_stack([X, X[:, 0], X[:, 1] + X[:, 2]]), system.y)
    assert ard(twins, mode=mode).support == ard(system, mode=mode).support


def test_noise_has_no_relevant_candidates():
    X, _ = tiny(rows=2000)
    noise = LinearSystem(X[:, :2], np.random.default_rng(0).standard_normal(2000))
    with pytest.warns(UbicWarning, match="no candidate is relevant"): found = ard(noise, 0.1)
    assert found.support == () and found.terms == []
    assert found.table().isna().all(axis=None) and "no terms" in repr(found)
    with pytest.raises(ValueError, match="`found` has 1 results without any relevant term"): aggregate([found])
    found.plot()


# --- results ----------------------------------------------------------------------------------------------------------

def test_table_and_pictures():
    _, system = tiny()
    found = ard(system, 0.6, mode="paper")
    table = found.table()
    assert table.shape == (4, 4) and table["fit 1"].coef.count() > table["fit 2"].coef.count() == 1
    assert "→" in repr(found) and "<table" in found._repr_html_() and repr(found) in found._repr_html_()
    both = [found, ard(system)]
    assert found.plot().get_ylabel() and len(plot_thresholds(both, select(aggregate(both)))) == 3


def test_aggregate_keeps_the_best_of_each_size():
    _, system = tiny()
    full, cut = ard(system, mode="paper"), ard(system, 0.6, mode="paper")
    path = aggregate([full, cut])
    assert isinstance(path, SubsetPath) and path.solver == "ard" and not path.exact
    assert sorted(set(path.sizes)) == list(path.sizes)
    worse = Relevance(cut.likelihood, 0.0, [Step((3,), cut.steps[-1].posterior, np.ones(1), 0.0)])
    assert aggregate([worse, cut]).supports[0] == (0,)
    assert aggregate(cut).supports == aggregate([cut]).supports
    np.testing.assert_allclose(path.coef[0], np.linalg.lstsq(system.X[:, :1], system.y, rcond=None)[0])


def test_aggregate_bad_inputs():
    found = ard(tiny()[1])
    with pytest.raises(ValueError, match="`found` is empty"): aggregate([])
    with pytest.raises(ValueError, match="`found` is empty"): plot_thresholds([])
    with pytest.raises(TypeError, match="`found`.*ndarray"): aggregate([np.zeros(3)])
    with pytest.raises(ValueError, match="different systems"): aggregate([found, ard(tiny()[1])])


# --- the published experiment -----------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def burgers(reference):
    with np.load(reference/"burgers_weak_system_authors.npz") as file:
        return LinearSystem(file["X"], file["y"].ravel(), candidates(derivative_order=2))


def test_published_fits(burgers):
    high, right, low = found = [ard(burgers, threshold, mode="paper") for threshold in (0.1, 0.01, 0.001)]
    six = (1, 2, 3, 4, 6, 7)
    assert [step.support for step in high.steps] == [six, (4,)]
    assert [step.support for step in right.steps] == [six, (2, 3, 4, 7), (2, 3, 4), (3, 4)]
    assert [step.support for step in low.steps] == [six]
    fits = {step.support: step for one in found for step in one.steps}
    path = aggregate(found)
    cv = np.array([fits[support].cv for support in path.supports])
    assert path.sizes.tolist() == [1, 2, 3, 4, 6]
    np.testing.assert_allclose(cv/cv.min(), [1.71, 1, 3.15, 3.98, 6.15], atol=0.006)
    chosen = select(path, mode="paper", tau0="P75")
    assert chosen.support == (3, 4) and chosen.lam == 0


def test_the_start_decides_the_summit(burgers):
    like = likelihood(burgers, "paper")
    *_, up = climb(like.R, like.q, like.n)
    *_, down = climb(like.R, like.q, like.n, precision=1/like.estimate**2)
    assert len(up.inside) == 6 and len(down.inside) == 7 and down.log_evidence > up.log_evidence + 5


def test_independent_rows_need_no_threshold(burgers):
    assert ard(burgers, mode="paper", n_eff=101).support == (3, 4)


@pytest.mark.parametrize("seed", range(4))
def test_a_perfect_fit_settles(seed):
    X = np.random.default_rng(seed).standard_normal((300, 3))
    with warnings.catch_warnings(action="error"):
        found = ard(LinearSystem(X, X[:, 0] - 0.5*X[:, 1]), mode="paper")
    assert found.support == (0, 1) and np.allclose(found.coef, [1, -0.5])
