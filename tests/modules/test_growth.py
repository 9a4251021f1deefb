"Candidates that grow: what each family offers, when the next one joins, and what a search that was stopped returns."
import numpy as np
import pytest
import xarray as xr

import ubic
from equality import assert_same
from standing import standing
from ubic.choice.contest import Contest
from ubic.choice.selection import ReasonKind
from ubic.language.terms import combinations_among
from ubic.road import looks
from ubic.road.growth import (
    DAMPED, DIVERGENCES, FAMILIES, FLUXES, Ground, Growth, HIGHER, NEXT_POWER, PLAIN, PRODUCTS, SLOPES, Step,
    WITH_KNOWN, offered_terms, shorter_spellings,
)
from ubic.search.subsets import best_subsets

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


def names(family, ground): return {str(term) for term in family.terms(ground)}


def offered(families, ground): return [str(term) for term in offered_terms(families, ground)]


# --- families ---------------------------------------------------------------------------------------------------------

LINE = Ground(("u",), "x", 2)
CONTENTS = {
    "fluxes": (FLUXES, {"1", "u", "u^2", "u^3", "u_x", "(u^2)_x", "(u^3)_x", "u_xx", "(u^2)_xx", "(u^3)_xx"}),
    "plain": (PLAIN, {
        "1", "u", "u^2", "u^3", "u_x", "u*u_x", "u^2*u_x", "u^3*u_x", "u_xx", "u*u_xx", "u^2*u_xx", "u^3*u_xx",
    }),
    "products": (PRODUCTS, {"u*u_x", "u^2*u_x", "u*u_xx", "u^2*u_xx"}),
    "higher": (HIGHER, {"u_xxx", "u_xxxx"}),
    "power": (NEXT_POWER, {"u^4", "(u^4)_x", "(u^4)_xx"}),
    "slopes": (SLOPES, {"u_x^2", "u_x*u_xx", "u_xx^2", "u*u_x^2"}),
    "divergences": (DIVERGENCES, {"(u*u_x)_x"}),
    "damped": (DAMPED, {"u_t"}),
}


@pytest.mark.parametrize("family, expected", CONTENTS.values(), ids=CONTENTS)
def test_a_family_on_a_line(family, expected): assert names(family, LINE) == expected


def test_a_first_family_holds_the_well_known_equations():
    known = {
        "Burgers": "u*u_x u_xx", "KdV": "u*u_x u_xxx", "modified KdV": "u^2*u_x u_xxx", "KS": "u*u_x u_xx u_xxxx",
        "Allen-Cahn": "u u^3 u_xx", "Cahn-Hilliard": "u_xx (u^3)_xx u_xxxx", "porous medium": "(u^2)_xx",
        "Swift-Hohenberg": "u u^3 u_xx u_xxxx", "decay": "u 1",
    }
    first = offered([FLUXES], Ground(("u",), "x", 4))
    for equation, terms in known.items(): assert set(terms.split()) <= set(first), equation


def test_families_in_the_plane_and_for_two_unknowns():
    plane = Ground(("u",), "xy", 2)
    assert names(HIGHER, plane) == {
        "u_xxx", "u_xxy", "u_xyy", "u_yyy", "u_xxxx", "u_xxxy", "u_xxyy", "u_xyyy", "u_yyyy",
    }
    pair = Ground(("u", "v"), "x", 2)
    assert names(DIVERGENCES, pair) == {"(u*u_x)_x", "(u*v_x)_x", "(v*u_x)_x", "(v*v_x)_x"}
    assert {"u_x*v_x", "u_x^2", "v_xx^2", "u*v_x^2"} <= names(SLOPES, pair) and {"u_t", "v_t"} == names(DAMPED, pair)


def test_known_fields_enter_as_factors():
    known = names(WITH_KNOWN, Ground(("u",), "x", 1, known=("V",)))
    assert known == {str(ubic.Term.parse(name)) for name in ("V", "V^2", "V*u", "V*u^2", "V*u_x")}


def test_no_family_exceeds_the_highest_derivative_that_was_asked_for():
    "Divergences are second derivatives; higher ones are a family of their own, which such a question leaves out."
    low = offered([family for family in FAMILIES if family is not HIGHER], Ground(("u", "v"), "x", 1))
    assert max(ubic.Term.parse(name).order for name in low) == 1
    x, t = np.arange(64)/64*2*np.pi, np.linspace(0, 1, 40)
    waves = ubic.as_field(np.sin(x[:, None] - t) + 0.3*np.cos(2*x[:, None] - 5*t), x=x, t=t)
    found = ubic.discover(waves, derivative_order=1)
    assert max(term.order for term in found["u"].path.system.terms) <= 1


def test_a_constant_comes_only_where_it_may():
    assert "1" in offered([FLUXES], LINE) and "1" not in offered([FLUXES], Ground(("u",), "x", 2, constant=False))


def test_equal_spellings_are_one_candidate_in_the_simplest_one():
    terms = offered(FAMILIES, Ground(("u",), "x", 4))
    assert "u*u_x" in terms and "(u^2)_x" not in terms and len(terms) == len(set(terms))
    both = offered([DIVERGENCES, FLUXES], LINE)
    assert sum(name in both for name in ("(u*u_x)_x", "(u^2)_xx")) == 1
    for before, after in zip(range(1, 6), range(2, 7)): # no family changes what earlier ones have offered
        first, more = offered(FAMILIES[:before], LINE), offered(FAMILIES[:after], LINE)
        assert more[:len(first)] == first


@pytest.mark.parametrize("unknowns, axes", [("u", "x"), ("uv", "x"), ("u", "xy")])
def test_no_candidate_is_a_combination_of_others(unknowns, axes):
    ground = Ground(tuple(unknowns), axes, 2)
    for count in range(1, 7): assert combinations_among(offered_terms(FAMILIES[:count], ground)) == {}


def test_what_is_left_out_can_be_said_by_what_is_offered():
    terms = offered_terms(FAMILIES, LINE)
    for family in FAMILIES:
        for term in family.terms(LINE): assert term in terms or term in combinations_among([*terms, term])


def test_terms_that_stand_for_several():
    equation = [ubic.Term.parse(name) for name in ("u", "u*u_xx", "(u^2)_xx")]
    shorter = {str(term): list(map(str, several)) for term, several in shorter_spellings(equation, LINE).items()}
    assert {name: set(several) for name, several in shorter.items()} == {"u_x^2": {"u*u_xx", "(u^2)_xx"}}
    assert shorter_spellings(equation[:2], LINE) == {} # nothing takes the place of two terms


@pytest.mark.parametrize("order", ["uv", "vu"])
def test_the_order_of_unknowns_changes_no_candidates(order):
    terms = offered_terms(FAMILIES, Ground(tuple(order), "x", 2))
    assert terms == offered_terms(FAMILIES, Ground(("u", "v"), "x", 2))


# --- growth -----------------------------------------------------------------------------------------------------------

def height(noise=2):
    "A front that grows where it is steep, u_t = 0.5 u_xx + u_x^2 (Kardar, Parisi and Zhang, without their noise)."
    x, t, rng = np.arange(128)*20/128, np.linspace(0, 4, 101), np.random.default_rng(1)
    start = sum(rng.normal()*np.cos(2*np.pi*k*x/20 + rng.uniform(0, 6)) for k in range(1, 4))
    pde = {"u": {"u_xx": 0.5, "u_x^2": 1.0}}
    return ubic.add_noise(ubic.simulate(pde, xr.Dataset({"u": ("x", start)}, {"x": x}), t), noise, seed=0)


@pytest.fixture(scope="module")
def grown(): return ubic.discover(height(), derivative_order=2)


def expanded(pde):
    "The coefficient of each product when all derivatives are carried out."
    total = {}
    for name, c in pde.items():
        for product, times in ubic.Term.parse(name).expanded().items():
            total[str(product)] = total.get(str(product), 0) + c*times
    return total


def test_candidates_grow_until_only_noise_is_left(grown):
    *steps, shorter = grown.growth["u"].steps
    assert [step.enough for step in steps] == [False]*(len(steps) - 1) + [True]
    assert steps[0].family == FLUXES.name and steps[0].left > 2 and len(steps) > 2
    assert shorter.family == "a shorter spelling" and shorter.enough
    found = expanded(grown.pde()["u"])
    assert found.pop("u_xx") == pytest.approx(0.5, rel=0.02) and found.pop("u_x^2") == pytest.approx(1, rel=0.02)
    assert all(abs(rest) < 0.02 for rest in found.values())


def test_growth_is_kept_in_files(grown, tmp_path):
    again = ubic.Discovery.load(grown.save(tmp_path/"found.npz"))
    assert_same(grown, again)
    assert_same(grown.growth["u"].table(), again.growth["u"].table())
    alone = Growth.load(grown.growth["u"].save(tmp_path/"growth.npz"))
    assert_same(grown.growth["u"], alone)
    assert type(alone.steps[0]) is Step


def test_nothing_grows_where_candidates_are_given(grown):
    for settings in ({"terms": ["u_xx"]}, {"mode": "paper"}, {"form": "pysindy"}):
        found = ubic.discover(grown.field, derivative_order=2, time_order=1, **settings)
        step, = found.growth["u"].steps
        assert found["u"].verdict != "clear" and step.candidates == found["u"].path.system.p
        if "terms" not in settings: # as before: powers up to the square, no constant, no derivatives of powers
            assert set(map(str, found["u"].path.system.terms)) == {
                "u", "u^2", "u_x", "u_xx", "u*u_x", "u*u_xx", "u^2*u_x", "u^2*u_xx",
            }


def test_the_second_time_derivative_is_a_step_of_growth():
    found = ubic.discover(standing(lambda q: 1.5*q))
    steps = found.growth["u"].steps
    assert [step.target for step in steps] == ["u_t", "u_tt"] and [step.enough for step in steps] == [False, True]
    assert found.pde()["u_tt"].keys() == {"u_xx"}


def test_another_time_derivative_has_to_leave_less():
    "Boxes and rows are others for it, so that evidence alone would say little."
    found = ubic.discover(height(noise=0))
    first, second = found.growth["u"].steps[:2]
    assert (first.target, second.target) == ("u_t", "u_tt") and second.left > first.left
    assert found["u"].path.system.target == "u_t" and found.growth["u"].steps[-1].enough


def test_a_field_with_few_rows_is_not_asked_for_more_candidates():
    noisy = ubic.add_noise(ubic.datasets.burgers(), 10, seed=0)
    found = ubic.discover(noisy, derivative_order=2, half_width={"x": 7.9, "t": 4.9})
    assert found["u"].refit is None and found["u"].verdict != "clear"
    assert max(step.candidates for step in found.growth["u"]) < found["u"].path.system.n


# --- stopped ----------------------------------------------------------------------------------------------------------

def interrupt_above(monkeypatch, most):
    "Ctrl-C as soon as there are more candidates than that."
    def searched(system, *arguments, **settings):
        if system.p > most: raise KeyboardInterrupt
        return best_subsets(system, *arguments, **settings)

    monkeypatch.setattr(looks, "best_subsets", searched)


def kinds(selection): return {reason.kind for reason in selection.verdict.reasons}


def test_an_interrupt_keeps_the_best_so_far(monkeypatch):
    field = height(noise=20) # at so much noise the first candidates are worth a look
    first = ubic.discover(field, derivative_order=2).growth["u"].steps[0]
    interrupt_above(monkeypatch, first.candidates)
    found = ubic.discover(field, derivative_order=2)
    assert len(found.growth["u"].steps) == 1 and str(found["u"].equation) == found.growth["u"].steps[0].equation
    assert found["u"].verdict != "clear" and ReasonKind.STOPPED in kinds(found["u"])


def test_an_interrupt_among_further_rivals_keeps_the_equation(monkeypatch):
    def interrupted(*_): raise KeyboardInterrupt

    noisy = ubic.add_noise(ubic.datasets.burgers(), 10, seed=0)
    monkeypatch.setattr(Contest, "challenge", interrupted)
    found = ubic.discover(noisy, derivative_order=2)["u"]
    assert set(map(str, found.terms)) == {"u_xx", "u*u_x"}
    assert found.verdict == "fragile" and kinds(found) == {ReasonKind.STOPPED}


def test_an_interrupt_before_anything_was_found_is_one(monkeypatch):
    interrupt_above(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt): ubic.discover(height(), derivative_order=2)


@pytest.mark.parametrize("settings", [{}, {"derivative_order": 2}])
def test_a_search_without_time_returns_something_that_is_not_clear(settings):
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0), time_limit=1e-3, **settings)["u"]
    assert found.verdict != "clear" and ReasonKind.STOPPED in kinds(found) and found.size >= 1
