"""What must hold for any input: exactness of the search, freedom of units, limits of the posterior, bounds of Algorithm 1."""
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ubic import datasets
from ubic.criterion import _ubic, improvements, select, tune
from ubic.field import add_noise
from ubic.library import weak
from ubic.posterior import evidence, posterior
from ubic.subsets import best_subsets
from ubic.system import LinearSystem
from ubic.terms import Term, parse_term

quick = settings(deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
few = settings(quick, max_examples=6)
pytestmark = pytest.mark.filterwarnings("ignore:no subset explains the target") # noise alone is a fair draw


@st.composite
def systems(draw, most=9, least=2, rows=60):
    "A sparse truth under noise; `mixing` makes the columns correlated, `spread` gives them different sizes."
    p, seed = draw(st.integers(least, most)), draw(st.integers(0, 10**6))
    mixing, spread = draw(st.sampled_from([0.0, 0.5, 0.95, 0.999])), draw(st.sampled_from([0, 3]))
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, p))*np.sqrt(1 - mixing) + rng.standard_normal((rows, 1))*np.sqrt(mixing)
    X *= 10.0**rng.uniform(-spread, spread, p)
    coef = rng.standard_normal(p)*(rng.random(p) < 0.5)/np.linalg.norm(X, axis=0)*np.sqrt(rows)
    return LinearSystem(X, X @ coef + 10.0**rng.uniform(-3, 0)*rng.standard_normal(rows))


def residual(system, support):
    X = system.X[:, list(support)]/np.linalg.norm(system.X[:, list(support)], axis=0)
    return np.sum((system.y - X @ np.linalg.lstsq(X, system.y, rcond=None)[0])**2)


# --- subsets --------------------------------------------------------------------------------------------------------------------

@quick
@given(systems())
def test_exact_search_is_brute_force(system):
    path = best_subsets(system)
    assert path.exact
    for support, rss in zip(path.supports, path.rss):
        least = min(residual(system, s) for s in combinations(range(system.p), len(support)))
        assert residual(system, support) <= least*(1 + 1e-9) and rss == pytest.approx(least, rel=1e-7)


@quick
@given(systems(most=12), st.data())
def test_certificate_says_how_sure_the_path_is(system, data):
    size = data.draw(st.integers(1, system.p))
    path = best_subsets(system, size)
    assert path.exact and path.certificate["gap"] == [0]*size
    assert path.certificate["all"] == sum(len(list(combinations(range(system.p), k))) for k in range(1, size + 1))


@few
@given(systems(most=7, least=3), st.integers(0, 10**6))
def test_exact_search_with_dependent_columns(system, seed):
    X = np.column_stack([system.X, system.X[:, :2] @ [1.0, -2.0]])[:, np.random.default_rng(seed).permutation(system.p + 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = best_subsets(LinearSystem(X, system.y), system.p)
    assert path.exact
    for support, rss in zip(path.supports, path.rss):
        assert rss == pytest.approx(min(residual(path.system, s) for s in combinations(range(system.p + 1), len(support))), rel=1e-6)


@quick
@given(systems(), st.sampled_from(["exact", "greedy"]))
def test_residual_never_grows_with_the_size(system, solver):
    path = best_subsets(system, solver=solver)
    assert list(path.sizes) == list(range(1, system.p + 1))
    assert (np.diff(path.rss) <= 1e-12*path.rss[0]).all()
    for support, coef, rss in zip(path.supports, path.coef, path.rss):
        assert np.sum((system.y - system.X[:, list(support)] @ coef)**2) == pytest.approx(rss, rel=1e-6)


@quick
@given(systems())
def test_greedy_is_never_better_than_exact(system):
    exact, greedy = best_subsets(system), best_subsets(system, solver="greedy")
    assert (greedy.rss >= exact.rss*(1 - 1e-9)).all() and not greedy.exact


@quick
@given(systems())
def test_a_limit_on_the_size_cuts_the_same_path(system):
    whole = best_subsets(system)
    short = best_subsets(system, max(1, system.p//2))
    np.testing.assert_allclose(short.rss, whole.rss[:len(short.rss)], rtol=1e-9)


# --- units, order, rows ---------------------------------------------------------------------------------------------------------

def same_answer(one, other, turn, unit):
    "Same terms under a renumbering `turn` of the columns, coefficients in the other units."
    assert sorted(turn[j] for j in other.support) == sorted(one.support)
    found = dict(zip(one.support, zip(one.coef, one.std)))
    for j, coef, std in zip(other.support, other.coef, other.std):
        np.testing.assert_allclose((coef*unit[turn[j]], std*abs(unit[turn[j]])), found[turn[j]], rtol=1e-6)
    np.testing.assert_allclose(other.bic, one.bic, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(other.uncertainty, one.uncertainty, rtol=1e-5)


@quick
@given(systems(), st.integers(0, 10**6))
def test_order_of_columns_and_rows_and_units_do_not_matter(system, seed):
    rng = np.random.default_rng(seed)
    turn, rows = rng.permutation(system.p), rng.permutation(system.n)
    columns, target, common = 10.0**rng.uniform(-6, 6, system.p), 10.0**rng.uniform(-6, 6), 10.0**rng.uniform(-6, 6)
    other = LinearSystem(common*(system.X*columns)[rows][:, turn], common*target*system.y[rows])
    for tau0 in (None, 0.02): same_answer(select(best_subsets(system), tau0=tau0), select(best_subsets(other), tau0=tau0), turn, columns/target)


@pytest.mark.parametrize("power", [4, 8, 12, 20])
@pytest.mark.parametrize("solver", ["exact", "greedy"])
def test_columns_may_be_of_very_different_sizes(power, solver):
    "Fourth derivatives on an axis in micrometres are 1e24 times smaller than those in metres."
    rng = np.random.default_rng(0)
    X, unit = rng.standard_normal((60, 5)), 10.0**np.linspace(0, -power, 5)
    y = X @ [1.0, 0, 0, 2.0, -1.0] + 0.01*rng.standard_normal(60)
    one, other = best_subsets(LinearSystem(X, y), solver=solver), best_subsets(LinearSystem(X*unit, y), solver=solver)
    assert one.supports == other.supports
    np.testing.assert_allclose(other.rss, one.rss, rtol=1e-9)
    for support, a, b in zip(one.supports, one.coef, other.coef): np.testing.assert_allclose(b*unit[list(support)], a, rtol=1e-9)


@quick
@given(systems(), st.integers(0, 10**6))
def test_signs_of_columns_and_target_do_not_matter(system, seed):
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], system.p)
    same_answer(select(best_subsets(system)), select(best_subsets(LinearSystem(-system.X*signs, -system.y))), np.arange(system.p), signs)


@pytest.fixture(scope="module")
def burgers():
    ds = add_noise(datasets.burgers(), 30, seed=0)
    return ds, select(best_subsets(weak(ds)))


def test_burgers_is_found(burgers):
    assert [str(term) for term in burgers[1].terms] == ["u_xx", "u*u_x"]
    np.testing.assert_allclose(burgers[1].coef, [0.1, -1], rtol=0.02)


factors = st.floats(-3, 3).map(lambda power: 10.0**power)


@few
@given(factors, factors, factors)
def test_units_of_the_field_do_not_matter(burgers, a, b, c):
    "u' = a u, x' = b x, t' = c t: the coefficient of u^n ∂ᵏu is multiplied by bᵏ/(aⁿ c)."
    ds, found = burgers
    other = select(best_subsets(weak((a*ds).assign_coords(x=b*ds.x, t=c*ds.t))))
    assert other.terms == found.terms and other.lam == pytest.approx(found.lam, rel=1e-6)
    unit = np.array([b**term.order/(a**(sum(power for _, power in term.powers) - (not term.derivative))*c) for term in found.terms])
    np.testing.assert_allclose(other.coef, found.coef*unit, rtol=1e-6)
    np.testing.assert_allclose(other.std, found.std*unit, rtol=1e-6)


@few
@given(factors, factors, factors)
def test_units_do_not_matter_on_every_road(burgers, a, b, c):
    ds = burgers[0]
    for options in ({"form": "pysindy", "rows": 500}, {"rows": 500}, {"constant": True, "power": 3}):
        one, other = (select(best_subsets(weak(field, **options))) for field in (ds, (a*ds).assign_coords(x=b*ds.x, t=c*ds.t)))
        assert other.terms == one.terms and other.evidence.n == pytest.approx(one.evidence.n, rel=1e-9)


@few
@given(st.floats(-100, 100), st.floats(-100, 100))
def test_origins_of_the_axes_do_not_matter(burgers, x, t):
    ds, found = burgers
    other = select(best_subsets(weak(ds.assign_coords(x=ds.x + x, t=ds.t + t))))
    assert other.terms == found.terms
    np.testing.assert_allclose(other.coef, found.coef, rtol=1e-6)


def test_mirrored_space_changes_the_sign_of_odd_derivatives(burgers):
    ds, found = burgers
    other = select(best_subsets(weak(ds.isel(x=slice(None, None, -1)).assign_coords(x=ds.x))))
    assert other.terms == found.terms
    np.testing.assert_allclose(other.coef, found.coef*[(-1)**term.order for term in found.terms], rtol=1e-6)


# --- posterior ------------------------------------------------------------------------------------------------------------------

@quick
@given(systems(most=5))
def test_posterior_tends_to_least_squares_as_the_prior_widens(system):
    X = system.X/np.linalg.norm(system.X, axis=0)
    estimate = np.linalg.lstsq(X, system.y, rcond=None)[0]
    variance = float(np.mean((system.y - X @ estimate)**2))
    center = np.random.default_rng(system.p).standard_normal(system.p)
    gaps = [np.linalg.norm(posterior(X, system.y, variance, center, width*np.eye(system.p)).mean - estimate) for width in (1.0, 1e4, 1e8, 1e14)]
    assert all(b <= a*(1 + 1e-9) + 1e-9 for a, b in zip(gaps, gaps[1:])) and gaps[-1] <= 1e-6*(1 + np.linalg.norm(estimate))
    wide = posterior(X, system.y, variance, "zero", 1e14*np.eye(system.p))
    np.testing.assert_allclose(wide.cov, variance*np.linalg.inv(X.T @ X), rtol=1e-5, atol=1e-9*wide.cov.max())


@quick
@given(systems(most=6), st.integers(0, 10**6))
def test_posterior_is_the_formula_of_the_paper(system, seed):
    rng = np.random.default_rng(seed)
    X, root = system.X/np.linalg.norm(system.X, axis=0), rng.standard_normal((system.p, system.p))
    prior, center, variance = root @ root.T + np.eye(system.p), rng.standard_normal(system.p), 0.1
    cov = np.linalg.inv(np.linalg.inv(prior) + X.T @ X/variance)
    ours = posterior(X, system.y, variance, center, prior)
    np.testing.assert_allclose(ours.cov, cov, rtol=1e-6, atol=1e-9*cov.max())
    mean = cov @ (np.linalg.solve(prior, center) + X.T @ system.y/variance)
    np.testing.assert_allclose(ours.mean, mean, rtol=1e-6, atol=1e-9*np.abs(mean).max())


@quick
@given(systems(most=6))
def test_evidence_needs_only_the_triangle(system):
    "Scores from R equal scores from all rows."
    found = evidence(best_subsets(system), "paper")
    for support, bic, belief in zip(found.path.supports, found.bic, found.posteriors):
        X = system.X[:, list(support)]
        rss = residual(system, support)
        assert bic == pytest.approx(system.n*(np.log(2*np.pi*rss/system.n) + 1) + len(support)*np.log(system.n), rel=1e-8)
        cov = np.linalg.inv(np.eye(len(support)) + X.T @ X/(rss/system.n))
        np.testing.assert_allclose(belief.std, np.sqrt(np.diag(cov)), rtol=1e-5)


@quick
@given(systems())
def test_uncertainty_is_at_least_one(system):
    for mode in ("paper", "unit_free"):
        uncertainty = evidence(best_subsets(system), mode).uncertainty
        assert uncertainty.min() == 1 and np.isfinite(uncertainty).all()


# --- criterion ------------------------------------------------------------------------------------------------------------------

@quick
@given(systems())
def test_without_penalty_the_criterion_is_bic(system):
    found = evidence(best_subsets(system))
    assert np.array_equal(_ubic(found.bic, found.uncertainty, -np.inf, np.log(found.n)), found.bic)
    tiny = _ubic(found.bic, found.uncertainty, -300.0, np.log(found.n)) # λ_U → 0
    np.testing.assert_allclose(tiny, found.bic, rtol=1e-12)
    k, lam, trace = tune(found.bic, found.uncertainty, found.path.sizes, -np.inf, np.log(found.n), 0.1)
    assert k == np.argmin(found.bic) and lam == -np.inf and len(trace) == 1


curves = st.integers(1, 12).flatmap(lambda n: st.tuples(
    st.lists(st.floats(-1e5, 1e5), min_size=n, max_size=n), st.lists(st.floats(1, 1e3), min_size=n, max_size=n)))


@settings(quick, max_examples=200)
@given(curves, st.floats(-3, 6), st.floats(1e-6, 1e2), st.integers(1, 12))
def test_algorithm_1_ends_within_its_steps(curve, lam_max, tau0, n_delta):
    bic, uncertainty = map(np.array, curve)
    sizes, gamma = np.arange(1, len(bic) + 1), 9.0
    k, lam, trace = tune(bic, uncertainty, sizes, lam_max, gamma, tau0, n_delta)
    assert 1 <= len(trace) <= n_delta + 1
    assert lam >= 0 if lam_max >= 0 else lam == lam_max
    assert bic[k] + 10.0**lam*gamma*uncertainty[k] == min(bic + 10.0**lam*gamma*uncertainty)
    assert all(step["accepted"] for step in trace[:-1]) and [s["lam"] for s in trace] == sorted((s["lam"] for s in trace), reverse=True)
    if lam_max > 0 and len(trace) == n_delta + 1: assert trace[-1]["lam"] == 0 # reached exactly, without rounding luck


@settings(quick, max_examples=100)
@given(curves)
def test_improvements_are_those_of_the_running_minima(curve):
    bic = np.array(curve[0])
    minima = [k for k in range(len(bic)) if k == 0 or bic[k] < bic[:k].min()]
    if any(bic[k] == 0 for k in minima): return
    expected = [abs((bic[b] - bic[a])/((b - a)*bic[a])) for a, b in zip(minima, minima[1:])]
    np.testing.assert_allclose(improvements(bic, np.arange(1, len(bic) + 1)), expected)


@quick
@given(systems())
def test_selection_is_consistent(system):
    found = select(best_subsets(system))
    assert found.size == len(found.support) == len(found.coef) == len(found.std) == len(found.terms)
    assert (found.std > 0).all() and np.isfinite(found.coef).all()
    np.testing.assert_allclose(found.coef, found.path.coef[found.k], rtol=1e-6)
    assert found.r_bic <= 0 and (found.lam >= 0 or found.trace[0]["lam"] < 0)


# --- terms ----------------------------------------------------------------------------------------------------------------------

terms = st.builds(lambda powers, derivative: Term(tuple(sorted(powers.items())), derivative),
                  st.dictionaries(st.sampled_from(["u", "v", "w", "psire", "q2"]), st.integers(1, 12), max_size=3),
                  st.none() | st.tuples(st.sampled_from(["u", "v", "psire"]), st.text("xyzt", min_size=1, max_size=5).map(lambda s: "".join(sorted(s)))))


@settings(quick, max_examples=200)
@given(terms)
def test_a_term_is_read_back_as_it_is_written(term):
    assert Term.parse(str(term)) == term and parse_term(term) is term
    assert Term.parse(str(term).replace("^", "**").replace("*u", " * u")) == term


@settings(quick, max_examples=50)
@given(terms, st.randoms(use_true_random=False))
def test_order_of_factors_and_of_derivatives_does_not_matter(term, random):
    factors = str(term).split("*")
    random.shuffle(factors)
    if term.derivative:
        name, axes = term.derivative
        factors = [f"{name}_{''.join(random.sample(axes, len(axes)))}" if "_" in factor else factor for factor in factors]
    assert Term.parse("*".join(factors)) == term
