"How one unknown is explained: what is kept when a look fails, rivals, and one voice for all warnings."
import warnings

import numpy as np
import pytest

import ubic
from ubic.choice.selection import ReasonKind
from ubic.ground.checks import Argument, ArgumentError, DataWarning, StorageWarning, UbicWarning, warn
from ubic.road.growth import FAMILIES
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
        search.try_offer(Offer(FAMILIES[:2], 1), "more")
    assert search.best is best and len(search.steps) == 1
    assert search.stopped == isinstance(error, KeyboardInterrupt)


def test_another_error_is_not_kept_back(scene, monkeypatch):
    search = Search(scene, "u")
    search.try_offer(FIRST, "first")
    monkeypatch.setattr(scene, "library", failing(ArgumentError("power", "is odd")))
    with pytest.raises(ArgumentError, match="`power` is odd"): search.try_offer(Offer(FAMILIES[:2], 1), "more")


@pytest.mark.parametrize("error, stopped", [
    (KeyboardInterrupt(), True), (ArgumentError("rows", "are too few"), False),
])
def test_holding_against_more_may_fail(scene, monkeypatch, error, stopped):
    search = Search(scene, "u")
    search.grow()
    terms = search.best.selection.terms
    monkeypatch.setattr(scene, "library", failing(error))
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
