"The doors to the searches: two steps, wide libraries, and ties."
import numpy as np
import pytest

import ubic
from searches import hard
from signs import signs
from ubic.ground.checks import UbicWarning
from ubic.solvers import two_step
from ubic.subsets import best_subsets
from ubic.system import LinearSystem

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


def test_wide_library_is_searched_as_far_as_reasonable():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 44))
    system = ubic.LinearSystem(X, X[:, 3] - X[:, 7] + 0.1*rng.standard_normal(500))
    with pytest.warns(UbicWarning, match="44 candidates"): path = ubic.best_subsets(system)
    assert path.exact and path.supports[1] == (3, 7)


@pytest.mark.parametrize("names, simplest", [
    (["u_xx", "u"], "u"), # fewer derivatives first
    (["u*u_x", "u^2"], "u^2"), # whatever the alphabet says
    (["u^2", "u"], "u"), # as many derivatives: by name
])
def test_of_equal_terms_the_simplest_is_taken(names, simplest):
    "For sin x, u_xx is -u: no data can tell them apart, so the name decides, in any order of the columns."
    h1, h2 = signs(64, 2)
    for order in (names, names[::-1]):
        path = ubic.best_subsets(ubic.LinearSystem(np.stack([h1, -h1], axis=1), h1 + 0.1*h2, order))
        assert [str(term) for term in path.terms(0)] == [simplest]
        assert np.abs(path.coef[0]) == pytest.approx(1)


def easy(p=40):
    "Three true candidates among many, a common part in all of them."
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, p)) + 0.7*rng.standard_normal((500, 1))
    return LinearSystem(X, X[:, :3] @ [1.0, -0.8, 0.6] + 0.5*rng.standard_normal(500))


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
