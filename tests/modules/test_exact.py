"The best subsets of every size: exact searches agree with brute force, and say how sure they are."
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import ubic
from searches import brute_force, few, floor, hard, navier_stokes, quick, systems
from ubic import datasets, recipes
from ubic.field import add_noise, true_pde
from ubic.ground.checks import UbicWarning
from ubic.library import weak
from ubic.subsets import best_subsets
from ubic.system import LinearSystem

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


# --- the best subset of every size ------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", [38, 41, 60])
def test_no_better_subset_breaks_the_promise_of_the_gap(seed):
    "A search without time says how much a better subset could save: at least what the whole search then saves."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((22, 21)) + rng.standard_normal((22, 1))
    system = ubic.LinearSystem(X, rng.standard_normal(22)) # noise, so that the first guess is often not the best
    with pytest.warns(ubic.UbicWarning, match="could save at most") as told:
        cut = ubic.best_subsets(system, 6, time_limit=1e-9)
    saved, gap = 1 - ubic.best_subsets(system, 6).rss/cut.rss, np.array(cut.certificate["gap"])
    assert 0.1 < max(saved) and (saved <= gap + 1e-9).all()
    assert f"could save at most {max(gap):.2%}" in str(told[-1].message)


wake = pytest.fixture(scope="module")(navier_stokes)


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
    X = system.X
    more = np.column_stack([X[:, :3] @ rng.integers(1, 3, 3), -2*X[:, 0], X[:, 1:4] @ [1.0, 0.0, -1.0]])
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
    y = base[:, 2] - base[:, 5] + 0.1*rng.standard_normal(100)
    with pytest.warns(UbicWarning, match="combinations"): system = LinearSystem(X, y)
    with pytest.warns(UbicWarning, match="depend on each other in very many ways"): path = best_subsets(system, 3)
    least = brute_force(system, 3)
    np.testing.assert_allclose(path.rss, least, rtol=1e-3)
    assert not path.exact and (path.rss*(1 - np.array(path.certificate["gap"])) <= least*(1 + 1e-9)).all()


def test_proportional_columns_cost_nothing():
    system = wide()
    X = np.column_stack([system.X, -3*system.X[:, 20:32]])
    with pytest.warns(UbicWarning, match="combinations"): twice = LinearSystem(X, system.y)
    path = best_subsets(twice, 8)
    assert path.exact and path.supports == best_subsets(system, 8).supports


def test_a_wide_library_is_searched_with_a_certificate():
    path = best_subsets(wide(), 10, time_limit=60)
    assert path.supports[6] == tuple(range(7)) and path.exact
    assert path.certificate["visited"] < path.certificate["all"]/1e5


def test_time_out_is_marked_and_its_gap_is_true():
    system = hard()
    best = best_subsets(system, 8)
    for limit in (1e-9, 0.02):
        told = pytest.warns(UbicWarning, match="search stopped after `time_limit=.*best subset so far")
        with told if limit < 1e-3 else warnings.catch_warnings():
            if limit > 1e-3: warnings.simplefilter("ignore")
            path = best_subsets(system, 8, time_limit=limit)
        gap = np.array(path.certificate["gap"])
        assert path.exact == (not gap.any()) and (gap < 1).all()
        assert (path.rss*(1 - gap) <= best.rss*(1 + 1e-9)).all() and (path.rss >= best.rss*(1 - 1e-9)).all()
        if limit < 1e-3: assert not path.exact and "gap at most" in repr(path)


# --- libraries of the paper -------------------------------------------------------------------------------------------

@pytest.mark.slow
def test_all_sizes_of_navier_stokes_are_searched_with_a_certificate(wake):
    path = best_subsets(wake)
    assert path.exact and len(path.sizes) == 19
    assert path.certificate["visited"] < path.certificate["all"]/100


@pytest.mark.slow
@pytest.mark.parametrize("target", ["u", "v"])
def test_reaction_and_diffusion_to_ten_terms_with_a_certificate(target):
    field = add_noise(datasets.reaction_diffusion(size="small"), 10, seed=0)
    system = weak(field, target, terms=recipes.paper_terms["reaction_diffusion"], form="pysindy")
    path = best_subsets(system, 10, time_limit=120)
    assert system.p == 76 and path.exact and not any(path.certificate["gap"])
    assert path.certificate["visited"] < path.certificate["all"]/1e5
    assert {str(term) for term in path.terms(6)} == set(true_pde(field)[target])


# --- a budget of steps ------------------------------------------------------------------------------------------------

def noise_only(p=40, rows=80):
    "Candidates that explain nothing, of which no subset is clearly the best."
    rng = np.random.default_rng(0)
    return ubic.LinearSystem(rng.standard_normal((rows, p)) + rng.standard_normal((rows, 1)), rng.standard_normal(rows))


@pytest.mark.filterwarnings("error")
def test_a_budget_of_steps_gives_the_same_path_each_time():
    "It says how far from the best it may be, and warns of nothing: that was asked for."
    first, again = (best_subsets(noise_only(), 6, "exact", most_steps=200) for _ in range(2))
    assert first.supports == again.supports and first.certificate == again.certificate
    assert not first.exact and 0 < max(first.certificate["gap"]) < 1
    assert 200 <= first.certificate["visited"] < 1000


def test_a_budget_keeps_the_promise_of_its_gap():
    brief, whole = best_subsets(noise_only(), 4, "exact", most_steps=200), best_subsets(noise_only(), 4, "exact")
    saved = 1 - whole.rss/brief.rss
    assert whole.exact and (saved <= np.array(brief.certificate["gap"]) + 1e-9).all()


def test_a_budget_that_is_large_enough_changes_nothing():
    whole, wide = best_subsets(noise_only(), 4, "exact"), best_subsets(noise_only(), 4, "exact", most_steps=10**9)
    assert wide.exact and wide.supports == whole.supports


@pytest.mark.parametrize("steps", [0, -1, 1.5])
def test_a_budget_is_a_whole_number(steps):
    with pytest.raises(ValueError, match="most_steps"): best_subsets(noise_only(), 6, "exact", most_steps=steps)
