"""Solvers of the best-subset problem: they agree with brute force and with each other, and say how sure they are."""
import pickle
import subprocess
import sys
import warnings
from itertools import combinations
from time import perf_counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from ubic import datasets, recipes
from ubic.criterion import select
from ubic.denoise import savgol2d, svd
from ubic.field import UbicWarning, add_noise, true_pde
from ubic.library import strong, weak
from ubic.solvers import from_coefficients, frols, l0bnb, miqp, sos1, two_step
from ubic.subsets import best_subsets
from ubic.system import LinearSystem
from ubic.terms import candidates

quick = settings(deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
few = settings(quick, max_examples=5)


@st.composite
def systems(draw, most=12, least=2, rows=80):
    "Correlated columns of different sizes; the target may be sparse, dense, noise alone, or fitted perfectly."
    p, seed = draw(st.integers(least, most)), draw(st.integers(0, 10**6))
    mixing, noise = draw(st.sampled_from([0.0, 0.9, 0.9999])), draw(st.sampled_from([0.0, 1e-4, 0.1, 10.0]))
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((rows, p))*np.sqrt(1 - mixing) + rng.standard_normal((rows, 1))*np.sqrt(mixing))*10.0**rng.uniform(-2, 2, p)
    coef = rng.standard_normal(p)*(rng.random(p) < draw(st.sampled_from([0.3, 1.0])))/np.linalg.norm(X, axis=0)
    return LinearSystem(X, X @ coef + (noise + 1e-9)*rng.standard_normal(rows)/np.sqrt(rows))


def brute_force(system, largest=None):
    "Least squared residual of each size, from every subset."
    unit = system.unit.T
    def rss(s): return np.sum((unit[:, -1] - unit[:, s] @ np.linalg.lstsq(unit[:, s], unit[:, -1], rcond=None)[0])**2)
    scale = np.sum(system.R[:, -1]**2)
    return np.array([min(rss(list(s)) for s in combinations(range(system.p), k)) for k in range(1, (largest or system.p - len(system.dependent)) + 1)])*scale


def hard(p=30, seed=0, rows=300):
    "Noise alone: no subset stands out."
    rng = np.random.default_rng(seed)
    return LinearSystem(rng.standard_normal((rows, p)) + rng.standard_normal((rows, 1)), rng.standard_normal(rows))


def floor(path): # residuals below this are rounding
    return 1e-20*np.sum(path.system.R[:, -1]**2)


# --- exact ----------------------------------------------------------------------------------------------------------------------

@quick
@given(systems(most=10))
def test_exact_is_brute_force(system):
    path = best_subsets(system)
    assert path.exact and list(path.sizes) == list(range(1, system.p + 1))
    np.testing.assert_allclose(path.rss, brute_force(system), rtol=1e-7, atol=floor(path))


@settings(few, max_examples=2)
@given(systems(most=12, least=12))
def test_exact_is_brute_force_for_twelve_candidates(system):
    path = best_subsets(system)
    np.testing.assert_allclose(path.rss, brute_force(system), rtol=1e-7, atol=floor(path))


@few
@given(systems(most=6, least=4), st.integers(0, 10**6))
@pytest.mark.filterwarnings("ignore:these terms are combinations")
def test_exact_is_brute_force_among_dependent_columns(system, seed):
    rng = np.random.default_rng(seed)
    more = np.column_stack([system.X[:, :3] @ rng.integers(1, 3, 3), -2*system.X[:, 0], system.X[:, 1:4] @ [1.0, 0.0, -1.0]])
    X = np.column_stack([system.X, more])[:, rng.permutation(system.p + 3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UbicWarning)
        whole = LinearSystem(X, system.y + 0.1*np.std(system.y)*rng.standard_normal(system.n))
    path = best_subsets(whole)
    assert path.exact and len(whole.dependent) == 3
    np.testing.assert_allclose(path.rss, brute_force(whole), rtol=1e-6)


def wide(p=76, seed=3):
    "As many candidates as the library of reaction and diffusion, correlated, seven of them true."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 40)) @ rng.standard_normal((40, p)) + rng.standard_normal((1000, p))
    return LinearSystem(X, X[:, :7] @ [1.0, -1, 1, -1, 0.5, 0.5, 1] + 0.5*rng.standard_normal(1000))


def test_very_many_dependences_are_no_obstacle():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((100, 18))
    X = np.column_stack([base, base @ rng.standard_normal((18, 4))])
    with pytest.warns(UbicWarning, match="combinations"): system = LinearSystem(X, base[:, 2] - base[:, 5] + 0.1*rng.standard_normal(100))
    with pytest.warns(UbicWarning, match="depend on each other in very many ways"): path = best_subsets(system, 3)
    least = brute_force(system, 3)
    np.testing.assert_allclose(path.rss, least, rtol=1e-3)
    assert not path.exact and (path.rss*(1 - np.array(path.certificate["gap"])) <= least*(1 + 1e-9)).all()


def test_proportional_columns_cost_nothing():
    system = wide()
    with pytest.warns(UbicWarning, match="combinations"): twice = LinearSystem(np.column_stack([system.X, -3*system.X[:, 20:32]]), system.y)
    path = best_subsets(twice, 8)
    assert path.exact and path.supports == best_subsets(system, 8).supports


def easy(p=40):
    "Three true candidates among many, a common part in all of them."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, p)) + 0.7*rng.standard_normal((500, 1))
    return LinearSystem(X, X[:, :3] @ [1.0, -0.8, 0.6] + 0.5*rng.standard_normal(500))


def test_a_wide_library_is_searched_with_a_certificate():
    path = best_subsets(wide(), 10, time_limit=60)
    assert path.supports[6] == tuple(range(7)) and path.exact and path.certificate["visited"] < path.certificate["all"]/1e5


def test_time_out_is_marked_and_its_gap_is_true():
    system = hard()
    best = best_subsets(system, 8)
    for limit in (1e-9, 0.02):
        with pytest.warns(UbicWarning, match="search stopped after `time_limit=.*best subset so far") if limit < 1e-3 else warnings.catch_warnings():
            if limit > 1e-3: warnings.simplefilter("ignore")
            path = best_subsets(system, 8, time_limit=limit)
        gap = np.array(path.certificate["gap"])
        assert path.exact == (not gap.any()) and (gap < 1).all()
        assert (path.rss*(1 - gap) <= best.rss*(1 + 1e-9)).all() and (path.rss >= best.rss*(1 - 1e-9)).all()
        if limit < 1e-3: assert not path.exact and "gap at most" in repr(path)


# --- mixed-integer programs -----------------------------------------------------------------------------------------------------

packages = {"scip": "pyscipopt", "gurobi": "gurobipy"}


@pytest.fixture(params=packages)
def engine(request):
    "Each engine whose package is installed."
    pytest.importorskip(packages[request.param])
    return request.param


@pytest.mark.parametrize("solver", [miqp, sos1])
def test_programs_agree_with_the_exact_search(solver, engine):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((200, 8)) + (seed % 3)*rng.standard_normal((200, 1))
        system = LinearSystem(X*10.0**rng.uniform(-3, 3, 8), X[:, :3] @ [1.0, -0.5, 0.2] + 0.3*rng.standard_normal(200))
        path, best = solver(system, 8, engine=engine), best_subsets(system)
        assert path.supports == best.supports and path.exact and engine in path.solver
        np.testing.assert_allclose(path.rss, best.rss)


@pytest.mark.parametrize("name, derivative_order", [("burgers", 2), ("kdv", 4)])
@pytest.mark.parametrize("solver", [miqp, sos1])
def test_programs_agree_on_published_systems(reference, name, derivative_order, solver):
    pytest.importorskip("pyscipopt")
    with np.load(reference/f"{name}_weak_system_authors.npz") as file: system = LinearSystem(file["X"], file["y"].ravel(), candidates(derivative_order=derivative_order))
    path = solver(system, system.p, time_limit=300)
    assert path.exact and path.supports == best_subsets(system).supports


def test_a_program_out_of_time_returns_greedy_with_a_gap(engine):
    system = hard(12)
    with pytest.warns(UbicWarning, match=f"{engine} stopped after"): path = miqp(system, 5, engine=engine, time_limit=1e-9)
    assert not path.exact and path.supports == best_subsets(system, 5, "greedy").supports
    assert (path.rss*(1 - np.array(path.certificate["gap"])) <= best_subsets(system, 5).rss*(1 + 1e-9)).all()


def test_a_perfect_fit_is_no_trouble():
    pytest.importorskip("pyscipopt")
    X = np.random.default_rng(0).standard_normal((50, 5))
    system = LinearSystem(X, X[:, 1] - 2*X[:, 3])
    for solver in ("exact", "miqp", "sos1", "l0bnb", "frols", "greedy", "two_step"): assert best_subsets(system, 3, solver).supports[1] == (1, 3)


# --- penalties, greedy, two steps -----------------------------------------------------------------------------------------------

@quick
@given(systems(most=9))
def test_penalized_path_and_its_gap(system):
    path, best = l0bnb(system, system.p), best_subsets(system)
    gap = np.array(path.certificate["gap"])
    assert (path.rss >= best.rss*(1 - 1e-9) - floor(path)).all()
    assert (path.rss*(1 - gap) <= best.rss*(1 + 1e-7) + floor(path)).all()
    assert (gap == 0).any() or best.rss[-1] < 1e-9*np.sum(system.R[:, -1]**2) # rounding hides corners of a perfect fit
    np.testing.assert_allclose(path.rss[gap == 0], best.rss[gap == 0], rtol=1e-7, atol=floor(path))


def test_penalized_search_that_is_cut_short_has_a_gap():
    system = hard(25)
    path, best = l0bnb(system, 8, most_steps=3), best_subsets(system, 8)
    assert not path.exact and (path.rss*(1 - np.array(path.certificate["gap"])) <= best.rss*(1 + 1e-9)).all()


def test_forward_regression_is_nested():
    path = frols(hard(10), 10)
    assert all(set(small) < set(large) for small, large in zip(path.supports, path.supports[1:])) and not path.exact


def test_forward_regression_is_that_of_pysindy():
    pysindy = pytest.importorskip("pysindy")
    system = hard(8, seed=5)
    theirs = pysindy.FROLS(max_iter=4, alpha=1e-12).fit(system.X, system.y)
    assert frols(system, 4).supports[-1] == tuple(np.flatnonzero(theirs.history_[4][0]))


@pytest.mark.parametrize("approximate", ["frols", "greedy", "l0bnb"])
def test_two_steps_find_the_truth_and_say_what_they_searched(approximate):
    path = two_step(easy(), 10, approximate)
    assert path.supports[2] == (0, 1, 2) and not path.exact and approximate in path.solver
    assert {str(term) for k in range(10) for term in path.terms(k)} <= set(path.certificate["candidates"])


def test_two_steps_are_exact_when_nothing_is_left_out():
    system = hard(8)
    path = best_subsets(system, solver="two_step")
    assert path.exact and path.supports == best_subsets(system).supports
    assert len(best_subsets(system, 4, "two_step", keep=5).certificate["candidates"]) <= 5


# --- libraries of the paper -----------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def waves():
    "Kuramoto–Sivashinsky as in the paper: 14 candidates."
    _, rng = recipes.noisy("ks")
    return weak(recipes.denoised("ks"), seed=rng, **recipes.get_recipe("ks").library)


@pytest.fixture(scope="module")
def wake():
    "Navier–Stokes as in the paper, on fewer points: 19 candidates."
    field = svd(savgol2d(add_noise(datasets.navier_stokes(size="small"), 1, seed=0), 9, 2), {"w": 26, "u": 20, "v": 20})
    return strong(field, "w", terms=recipes.paper_terms["navier_stokes"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:scip stopped")
@pytest.mark.parametrize("solver", ["miqp", "sos1"])
@pytest.mark.parametrize("library", ["waves", "wake"])
def test_integer_programs_agree_on_libraries_of_the_paper(request, library, solver):
    pytest.importorskip("pyscipopt")
    system = request.getfixturevalue(library)
    path, best = best_subsets(system, solver=solver, time_limit=120), best_subsets(system)
    assert path.supports == best.supports and best.exact and max(path.certificate["gap"]) < 0.05


@pytest.mark.slow
def test_all_sizes_of_navier_stokes_take_half_a_second(wake):
    wake.unit, best_subsets(wake, 1) # reduced, and compiled
    start = perf_counter()
    path = best_subsets(wake)
    assert perf_counter() - start < 0.5 and path.exact and len(path.sizes) == 19


@pytest.mark.slow
@pytest.mark.parametrize("target", ["u", "v"])
def test_reaction_and_diffusion_to_ten_terms_with_a_certificate(target):
    field = add_noise(datasets.reaction_diffusion(size="small"), 10, seed=0)
    system = weak(field, target, terms=recipes.paper_terms["reaction_diffusion"], form="pysindy")
    start = perf_counter()
    path = best_subsets(system, 10, time_limit=120)
    assert system.p == 76 and path.exact and perf_counter() - start < 120
    assert {str(term) for term in path.terms(6)} == set(true_pde(field)[target])


# --- PySINDy --------------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def coupled():
    "Two targets over five candidates, one of them always zero."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 5))
    X[:, 2] = 0
    return X, np.column_stack([X[:, 0] - 2*X[:, 4], 0.5*X[:, 1]]) + 0.01*rng.standard_normal((400, 2))


@pytest.mark.filterwarnings("ignore:dropped terms")
def test_pysindy_optimizer(coupled):
    pysindy = pytest.importorskip("pysindy")
    from sklearn.base import clone
    from ubic.solvers import UBICOptimizer
    X, y = coupled
    found = clone(UBICOptimizer(max_size=3)).fit(X, y)
    assert isinstance(found, pysindy.optimizers.BaseOptimizer) and found.complexity == 3
    np.testing.assert_allclose(found.coef_, [[1, 0, 0, 0, -2], [0, 0.5, 0, 0, 0]], atol=0.01)
    assert [selection.size for selection in found.selections_] == [2, 1]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).coef_, found.coef_)


def test_pysindy_model():
    pysindy = pytest.importorskip("pysindy")
    from ubic.solvers import UBICOptimizer
    t = np.linspace(0, 6, 601)
    x = np.column_stack([np.exp(-0.2*t)*np.cos(2*t), -np.exp(-0.2*t)*np.sin(2*t)]) # x' = -0.2 x + 2 y, y' = -2 x - 0.2 y
    model = pysindy.SINDy(optimizer=UBICOptimizer(), feature_library=pysindy.PolynomialLibrary(3))
    model.fit(x + 1e-5*np.random.default_rng(0).standard_normal(x.shape), t=t)
    coef = model.coefficients()
    assert [tuple(np.flatnonzero(row)) for row in coef] == [(1, 2), (1, 2)]
    np.testing.assert_allclose(coef[:, 1:3], [[-0.2, 2], [-2, -0.2]], atol=5e-3)
    assert model.simulate(x[0], t).shape == x.shape


def test_pysindy_coefficients_make_a_path():
    pysindy = pytest.importorskip("pysindy")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 6))
    system = LinearSystem(X, X[:, 0] - 0.5*X[:, 2] + 0.1*rng.standard_normal(300))
    coefs = [pysindy.STLSQ(threshold=threshold).fit(X, system.y).coef_[0] for threshold in (1e-4, 0.005, 0.1, 0.3, 0.7)]
    path = from_coefficients(system, coefs)
    assert (0, 2) in path.supports and select(path).support == (0, 2) and not path.exact
    assert path.certificate["models"] == 5 and list(path.sizes) == sorted(set(path.sizes)) and path.sizes[0] >= 1


# --- refusals -------------------------------------------------------------------------------------------------------------------

refused = [
    (lambda s: best_subsets(s, 3, "lasso"), ValueError, "`solver` must be one of exact, greedy, miqp, sos1, frols, l0bnb, two_step, found 'lasso'"),
    (lambda s: best_subsets(s, 3, time_limit=0), ValueError, "`time_limit`"),
    (lambda s: best_subsets(s, 3, "greedy", time_limit=1), TypeError, "`solver='greedy'` has no option `time_limit`"),
    (lambda s: best_subsets(s, 3, "miqp", engine="cplex"), ValueError, "`engine` must be one of scip, gurobi, found 'cplex'"),
    (lambda s: two_step(s, 3, "exact"), ValueError, "`approximate` must be an approximate solver"),
    (lambda s: two_step(s, 3, keep=0), ValueError, "`keep`"),
    (lambda s: from_coefficients(s, np.ones(4)), ValueError, "`coefs` must have one column per candidate, 6, found shape"),
    (lambda s: from_coefficients(s, np.zeros(6)), ValueError, "`coefs` are zero everywhere"),
]


@pytest.mark.parametrize("call, kind, words", refused)
def test_refused_with_one_sentence(call, kind, words):
    with pytest.raises(kind, match=words): call(hard(6))


def test_a_missing_pysindy_is_named():
    code = "import sys; sys.modules['pysindy'] = None\ntry: from ubic.solvers import UBICOptimizer\nexcept ImportError as error: print(error)"
    assert 'pip install "ubic[sindy]"' in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout


def test_solver_packages_load_only_when_used():
    code = "import sys, ubic; ubic.best_subsets; import ubic.solvers; print([m for m in ('pyscipopt', 'gurobipy', 'pysindy') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
