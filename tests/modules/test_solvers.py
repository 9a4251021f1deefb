"""Solvers of the best-subset problem: they agree with the exact search, and say how sure they are."""
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given

from searches import floor, hard, navier_stokes, quick, systems
from ubic import recipes
from ubic.criterion import select
from ubic.ground.checks import UbicWarning
from ubic.library import weak
from ubic.solvers import frols, from_coefficients, l0bnb, miqp, sos1, two_step
from ubic.subsets import best_subsets
from ubic.system import LinearSystem
from ubic.terms import candidates


# --- mixed-integer programs -------------------------------------------------------------------------------------------

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
    terms = candidates(derivative_order=derivative_order)
    with np.load(reference/f"{name}_weak_system_authors.npz") as file:
        system = LinearSystem(file["X"], file["y"].ravel(), terms)
    path = solver(system, system.p, time_limit=300)
    assert path.exact and path.supports == best_subsets(system).supports


def test_a_program_out_of_time_returns_greedy_with_a_gap(engine):
    system = hard(12)
    with pytest.warns(UbicWarning, match=f"{engine} stopped after"):
        path = miqp(system, 5, engine=engine, time_limit=1e-9)
    assert not path.exact and path.supports == best_subsets(system, 5, "greedy").supports
    assert (path.rss*(1 - np.array(path.certificate["gap"])) <= best_subsets(system, 5).rss*(1 + 1e-9)).all()


def test_a_perfect_fit_is_no_trouble():
    pytest.importorskip("pyscipopt")
    X = np.random.default_rng(0).standard_normal((50, 5))
    system = LinearSystem(X, X[:, 1] - 2*X[:, 3])
    for solver in ("exact", "miqp", "sos1", "l0bnb", "frols", "greedy", "two_step"):
        assert best_subsets(system, 3, solver).supports[1] == (1, 3)


# --- penalties and greedy ---------------------------------------------------------------------------------------------

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


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
@pytest.mark.parametrize("seed", [38, 41, 60])
@pytest.mark.parametrize("solver, options", [(miqp, {"time_limit": 1e-9}), (l0bnb, {"most_steps": 1})])
def test_gaps_of_other_solvers_keep_their_promise(solver, options, seed):
    "With about as many columns as rows, what is found in a hurry leaves too much, by no more than the gap."
    if solver is miqp: pytest.importorskip("pyscipopt")
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((22, 21)) + rng.standard_normal((22, 1))
    system = LinearSystem(X, rng.standard_normal(22))
    cut = solver(system, 6, **options)
    saved, gap = 1 - best_subsets(system, 6).rss/cut.rss, np.array(cut.certificate["gap"])
    assert 0.1 < max(saved) and (saved <= gap + 1e-9).all()


def test_forward_regression_is_nested():
    path = frols(hard(10), 10)
    assert all(set(small) < set(large) for small, large in zip(path.supports, path.supports[1:])) and not path.exact


def test_forward_regression_is_that_of_pysindy():
    pysindy = pytest.importorskip("pysindy")
    system = hard(8, seed=5)
    theirs = pysindy.FROLS(max_iter=4, alpha=1e-12).fit(system.X, system.y)
    assert frols(system, 4).supports[-1] == tuple(np.flatnonzero(theirs.history_[4][0]))


# --- libraries of the paper -------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def waves():
    "Kuramoto–Sivashinsky as in the paper: 14 candidates."
    _, rng = recipes.noisy("ks")
    return weak(recipes.denoised("ks"), seed=rng, **recipes.get_recipe("ks").library)


wake = pytest.fixture(scope="module")(navier_stokes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:scip stopped")
@pytest.mark.parametrize("solver", ["miqp", "sos1"])
@pytest.mark.parametrize("library", ["waves", "wake"])
def test_integer_programs_agree_on_libraries_of_the_paper(request, library, solver):
    pytest.importorskip("pyscipopt")
    system = request.getfixturevalue(library)
    path, best = best_subsets(system, solver=solver, time_limit=120), best_subsets(system)
    assert path.supports == best.supports and best.exact and max(path.certificate["gap"]) < 0.05


# --- PySINDy ----------------------------------------------------------------------------------------------------------

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
    decay = np.exp(-0.2*t)
    x = np.column_stack([decay*np.cos(2*t), -decay*np.sin(2*t)]) # x' = -0.2 x + 2 y, y' = -2 x - 0.2 y
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


# --- refusals ---------------------------------------------------------------------------------------------------------

refused = [
    (lambda s: best_subsets(s, 3, "lasso"), ValueError,
     "`solver` must be one of exact, greedy, miqp, sos1, frols, l0bnb, two_step, found 'lasso'"),
    (lambda s: best_subsets(s, 3, time_limit=0), ValueError, "`time_limit`"),
    (lambda s: best_subsets(s, 3, "greedy", time_limit=1), TypeError, "`solver='greedy'` has no option `time_limit`"),
    (lambda s: best_subsets(s, 3, "miqp", engine="cplex"), ValueError,
     "`engine` must be one of scip, gurobi, found 'cplex'"),
    (lambda s: two_step(s, 3, "exact"), ValueError, "`approximate` must be an approximate solver"),
    (lambda s: two_step(s, 3, keep=0), ValueError, "`keep`"),
    (lambda s: from_coefficients(s, np.ones(4)), ValueError,
     "`coefs` must have one column per candidate, 6, found shape"),
    (lambda s: from_coefficients(s, np.zeros(6)), ValueError, "`coefs` are zero everywhere"),
]


@pytest.mark.parametrize("call, kind, words", refused)
def test_refused_with_one_sentence(call, kind, words):
    with pytest.raises(kind, match=words): call(hard(6))


def test_a_missing_pysindy_is_named():
    code = """
import sys
sys.modules['pysindy'] = None
try: from ubic.solvers import UBICOptimizer
except ImportError as error: print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert 'pip install "ubic[sindy]"' in done.stdout


def test_solver_packages_load_only_when_used():
    code = """
import sys, ubic
ubic.best_subsets
import ubic.solvers
print([module for module in ('pyscipopt', 'gurobipy', 'pysindy') if module in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
