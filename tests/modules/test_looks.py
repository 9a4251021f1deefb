"How one unknown is explained: what is kept when a look fails, rivals, and one voice for all warnings."
import warnings

import numpy as np
import pytest
import xarray as xr

import ubic
from standing import standing
from ubic.choice.selection import ReasonKind
from ubic.ground.checks import Argument, ArgumentError, DataWarning, StorageWarning, UbicWarning, warn
from ubic.road.growth import FAMILIES, NO_EQUATION
from ubic.road.looks import Offer, OneVoice, Scene, Search, explain, give_once, hear, targets_of, with_rivals
from ubic.trial.discovery import Settings

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")

FIRST = Offer(FAMILIES[:1], 1)

PARTS = "raise ", Argument("tau0", 0.1), " for that"


class OddWarning(UbicWarning):
    "A warning of a class of its own."


def odd(times=1):
    for _ in range(times): warnings.warn(OddWarning(*PARTS), stacklevel=2)


def recorded(function):
    with warnings.catch_warnings(record=True, action="always") as caught: function()
    return caught


def test_warnings_keep_their_class_and_parts():
    def several():
        with OneVoice():
            odd(3)
            give_once(hear(odd, 2)[1])

    one, = recorded(several)
    assert one.category is OddWarning and one.message.args == PARTS and one.filename == __file__
    assert one.message.sentence(lambda argument: f"--{argument.name} {argument.value}") == "raise --tau0 0.1 for that"


def test_warnings_are_one_by_kind_and_object():
    def several():
        with OneVoice():
            for kind, text in ((DataWarning, "u is odd"), (DataWarning, "u is very odd"), (StorageWarning, "u is odd")):
                warn(text, kind=kind, about="u")
            warn("v is odd", kind=DataWarning)

    told = [(one.category, str(one.message), one.message.about) for one in recorded(several)]
    assert told == [(DataWarning, "u is odd", "u"), (StorageWarning, "u is odd", "u"), (DataWarning, "v is odd", None)]


def test_warnings_of_other_packages_pass_through():
    def other():
        with OneVoice(): np.log(np.zeros(1))

    assert [one.category for one in recorded(other)] == [RuntimeWarning]


def test_after_an_error_there_is_nothing_else_to_say():
    def failing():
        with pytest.raises(KeyError), OneVoice():
            odd()
            raise KeyError

    assert recorded(failing) == []


# --- looks ------------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def noisy(): return ubic.add_noise(ubic.datasets.burgers(), 30, seed=0)


@pytest.fixture
def scene(noisy): return Scene(noisy, noisy, Settings())


def test_a_library_is_made_once(scene):
    systems, _ = scene.library(FIRST, 2)
    assert scene.library(FIRST, 2)[0] is systems and scene.library(FIRST, 3)[0] is not systems
    assert len(scene.libraries) == 2


def test_known_fields_are_no_targets(noisy):
    pair = noisy.assign(v=2*noisy.u)
    survey = Scene(pair, pair, Settings()).survey
    assert list(targets_of(survey, Settings())) == ["u", "v"]
    assert list(targets_of(survey, Settings(known=("v",)))) == ["u"]


def test_the_same_is_explained_as_discovered(noisy, scene):
    found, (explained, growth) = ubic.discover(noisy), explain(scene, "u")
    assert np.array_equal(explained.selection.coef, found["u"].coef)
    assert explained.settled == found.settings.settled["u"] and len(growth.steps) == len(found.growth["u"].steps) == 1


def failing(error):
    def fail(*_): raise error
    return fail


@pytest.mark.parametrize("error", [
    KeyboardInterrupt(), ArgumentError("rows", "are too few"), ArgumentError("X", "has too few rows"),
])
def test_what_was_found_before_is_kept(scene, monkeypatch, error):
    search = Search(scene, "u")
    with monkeypatch.context() as patch, pytest.raises(type(error)):
        patch.setattr(scene, "library", failing(error))
        search.try_offer(FIRST, "first")
    search.try_offer(FIRST, "first")
    best = search.best
    with monkeypatch.context() as patch:
        patch.setattr(scene, "library", failing(error))
        search.look_at(Offer(FAMILIES[:2], 1), "more")
    assert search.best is best and len(search.steps) == 1
    assert search.stopped == isinstance(error, KeyboardInterrupt)


def test_another_error_is_not_kept_back(scene, monkeypatch):
    search = Search(scene, "u")
    search.try_offer(FIRST, "first")
    monkeypatch.setattr(scene, "library", failing(ArgumentError("power", "is odd")))
    with pytest.raises(ArgumentError, match="`power` is odd"): search.look_at(Offer(FAMILIES[:2], 1), "more")


@pytest.mark.parametrize("error, stopped", [
    (KeyboardInterrupt(), True), (ArgumentError("rows", "are too few"), False),
])
def test_holding_against_more_may_fail(scene, monkeypatch, error, stopped):
    search = Search(scene, "u")
    search.grow()
    terms = search.best.selection.terms
    monkeypatch.setattr(scene, "contest", failing(error))
    search.hold_against_more()
    assert search.stopped == stopped and search.best.selection.terms == terms


def test_a_search_without_time_is_never_clear(scene):
    scene.deadline = 0
    explained, growth = explain(scene, "u")
    assert ReasonKind.STOPPED in [reason.kind for reason in explained.selection.verdict.reasons]
    assert scene.cut_short and len(growth.steps) == 1


def test_rivals_that_only_add_terms_are_no_news(scene):
    selection = explain(scene, "u")[0].selection
    short, long, other = ("u",), ("u", "u_x"), ("u_xx",)
    assert with_rivals(selection, [long, short, other, other]).rivals == [short, other]


# --- what has no hope, and what could be shorter ----------------------------------------------------------------------

def surface(noise, heights=(1.5, 1.5, 1, 1), frames=101):
    "A surface that spreads and grows, u_t = 0.5 u_xx + u_x^2."
    x = np.arange(128)*20/128
    u = sum(height*np.cos(2*np.pi*k*x/20 + k**2) for k, height in enumerate(heights, 1))
    start = xr.Dataset({"u": ("x", u)}, {"x": x})
    clean = ubic.simulate({"u": {"u_xx": 0.5, "u_x^2": 1.0}}, start, np.linspace(0, 0.04*(frames - 1), frames))
    return ubic.add_noise(clean, noise, seed=0)


@pytest.fixture(scope="module")
def grown():
    "A search for the equation of the surface, and its growth before and after a shorter spelling was looked for."
    field = surface(5)
    search = Search(Scene(field, field, Settings(derivative_order=2)), "u")
    search.grow()
    before = list(search.steps)
    search.respell()
    return search, before


def test_an_offer_without_hope_is_passed_over(grown):
    search, steps = grown
    (offer, _, left), = search.passed_over
    assert offer.families == FAMILIES[:1] and left > 2
    assert steps[0].equation == NO_EQUATION and not steps[0].enough
    assert (steps[0].left, steps[0].unit, steps[0].target) == (left, "noise", "u_t")


def test_an_equation_comes_out_in_its_shortest_spelling(grown):
    "Products leave out the square of a slope, a combination of others, so that three terms say what two can say."
    search, steps = grown
    assert "u_x^2" not in steps[-1].equation and steps[-1].enough
    assert set(map(str, search.best.selection.terms)) == {"u_x^2", "u_xx"}
    assert search.steps[-1].family == "a shorter spelling" and len(search.steps) == len(steps) + 1


def test_the_least_hopeless_offer_is_looked_at_where_all_are():
    "A discovery always has an equation, and here one that says that more than noise is left."
    field = ubic.add_noise(ubic.datasets.burgers(), 1, seed=0)
    strange = field.assign(u=field.u + 0.3*np.sin(7*field.t**2)*np.sign(field.x))
    found = ubic.discover(strange, power=1, fluxes=True, derivative_order=1, time_order=1, constant=False)
    steps = found.growth["u"].steps
    assert steps[0].equation == NO_EQUATION and steps[-1].equation == str(found["u"].equation)
    assert found["u"].verdict != "clear" and found["u"].size >= 1


def test_a_family_without_news_is_not_tried(scene):
    search = Search(scene, "u")
    assert search.adds(FAMILIES[:1], FAMILIES[1]) and not search.adds(FAMILIES[:2], FAMILIES[1])
    assert not search.helps(FIRST, FIRST), "what is left is the same"


def test_the_second_time_derivative_is_held_against_the_first():
    "The first candidates have no hope here, and among those for the second derivative chance finds seven terms."
    found = ubic.discover(surface(5, (1.5, 1, 1, 1), 76))
    assert set(map(str, found["u"].terms)) == {"u_x^2", "u_xx"} and found["u"].path.system.target == "u_t"


def test_waves_keep_their_second_derivative():
    found = ubic.discover(ubic.add_noise(standing(lambda q: 1.5*q), 5, seed=0))
    assert found["u"].path.system.target == "u_tt" and found["u"].verdict == "clear"
