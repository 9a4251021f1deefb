"The last word: fields that cannot tell, and results that nobody should call clear."
import warnings

import numpy as np
import pytest

import ubic
from equality import assert_same
from signs import heat_waves
from standing import standing
from ubic.choice.selection import ReasonKind
from ubic.choice.refit import Refit
from ubic.choice.settling import chance_limit, is_sure_of
from ubic.ground.checks import UbicWarning
from ubic.language.terms import parse_term

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


def kinds(selection): return {reason.kind for reason in selection.verdict.reasons}


def noisy(field, percent): return ubic.add_noise(field, percent, seed=0) if percent else field


def pulse():
    "A hill that moves and keeps its shape."
    x, t = np.linspace(-10, 10, 160), np.linspace(0, 4, 100)
    return ubic.as_field(np.exp(-(x[:, None] - t)**2), x=x, t=t)


def mode(u):
    x, t = np.arange(96)*2*np.pi/96, np.linspace(0, 2, 60)
    return ubic.as_field(u(x[:, None], t), x=x, t=t)


UNCLEAR = {
    "pulse": pulse(),
    "travelling mode": mode(lambda x, t: np.sin(x - t)),
    "decaying mode": mode(lambda x, t: np.exp(-t)*np.sin(x)),
}
with warnings.catch_warnings(action="ignore", category=UbicWarning): # it does not vary along x
    UNCLEAR["uniform"] = mode(lambda x, t: np.exp(-0.5*t) + 0*x)


@pytest.mark.parametrize("percent", [0, 5])
@pytest.mark.parametrize("name", UNCLEAR)
def test_fields_that_cannot_tell_are_never_clear(name, percent, tmp_path):
    found = ubic.discover(noisy(UNCLEAR[name], percent), derivative_order=2)["u"]
    assert found.verdict != "clear" and found.verdict.reasons
    again = ubic.load_result(found.save(tmp_path/"chosen.npz"))
    assert_same(found, again)
    assert again.verdict.reasons == found.verdict.reasons


def test_a_pulse_that_only_moves_is_said_to():
    found = ubic.discover(noisy(pulse(), 5), derivative_order=2)["u"]
    assert list(map(str, found.terms)) == ["u_x"] and ReasonKind.TRAVELLING in kinds(found)


@pytest.mark.parametrize("percent", [0, 5, 50])
def test_an_axis_without_news_is_named(percent):
    found = ubic.discover(noisy(UNCLEAR["uniform"], percent), derivative_order=2)["u"]
    flat, = (reason for reason in found.verdict.reasons if reason.kind is ReasonKind.FLAT)
    assert flat.details == {"axes": "x"}


def test_much_noise_is_not_flat():
    found = ubic.discover(noisy(ubic.datasets.burgers(), 150), derivative_order=2)["u"]
    assert ReasonKind.FLAT not in kinds(found)


@pytest.mark.parametrize("percent", [0, 10])
def test_a_result_in_paper_mode_is_never_clear(percent):
    found = ubic.discover(noisy(ubic.datasets.burgers(), percent), mode="paper", derivative_order=2)["u"]
    assert set(map(str, found.terms)) == {"u_xx", "u*u_x"} and ReasonKind.ALL_ROWS in kinds(found)
    assert found.verdict == "fragile"


def test_a_candidate_that_is_missing_is_named():
    "Decay is offered and left out by a limit of one term."
    found = ubic.discover(heat_waves(0.05), terms=["u_xx", "u"], max_size=1, time_order=1)["u"]
    assert list(map(str, found.terms)) == ["u_xx"] and found.verdict != "clear"


def test_the_price_of_chance_grows_with_rows_and_candidates():
    assert chance_limit(100, 1) == pytest.approx(np.log(100))
    assert chance_limit(100, 10) - chance_limit(100, 1) == pytest.approx(2*np.log(10))


def test_what_is_settled_stays_within_the_sizes_asked_for():
    "A candidate that is missed does not join where there is no room on the path."
    for noise in (0.02, 0.3):
        found = ubic.discover(heat_waves(0.2, noise), terms=["u_xx", "u", "u_x"], max_size=1, time_order=1)["u"]
        assert found.size == 1 and len(found.coef) == 1 and all(len(terms) == 1 for terms in found.rivals)
        assert found.refit is None or len(found.refit.terms) == 1


# --- a character that the data leave open -----------------------------------------------------------------------------

def moving_heat(diffusion):
    "Three waves that move and spread, u_t = -2 u_x + diffusion·u_xx."
    def wave(q, x, t): return np.exp(-diffusion*q**2*t)*np.cos(q*(x - 2*t) + q)
    return mode(lambda x, t: sum(wave(q, x, t) for q in (1, 2, 3)))


@pytest.mark.parametrize("percent", [0, 2])
def test_a_field_that_hardly_does_more_than_move_is_said_to(percent):
    "Diffusion is found here, but slopes alone leave next to nothing."
    barely, plainly = (ubic.discover(noisy(moving_heat(nu), percent), derivative_order=2)["u"] for nu in (0.02, 0.2))
    for found in (barely, plainly): assert set(map(str, found.terms)) == {"u_x", "u_xx"}
    assert ReasonKind.TRAVELLING in kinds(barely) and ReasonKind.TRAVELLING not in kinds(plainly)


def test_losses_that_could_hide_are_named():
    "Waves that go on for ever, or hardly lose: at much noise nobody can tell."
    waves = standing(lambda q: 1.5*q)
    loud, quiet = (ubic.discover(noisy(waves, percent))["u"] for percent in (200, 5))
    for found in (loud, quiet): assert list(map(str, found.terms)) == ["u_xx"]
    reason, = (reason for reason in loud.verdict.reasons if reason.kind is ReasonKind.LOSSES)
    assert reason.details["terms"] == "u_t" and 0.02 < reason.details["share"] < 0.1
    assert quiet.verdict == "clear"


def test_an_equation_with_losses_hides_none():
    found = ubic.discover(noisy(ubic.datasets.burgers(), 100), derivative_order=2)["u"]
    assert set(map(str, found.terms)) == {"u_xx", "u*u_x"} and ReasonKind.LOSSES not in kinds(found)


def fitted(left):
    "A fit with one large and one small coefficient that leaves so many times the noise."
    terms, cov = [parse_term("u_xx"), parse_term("u_x")], np.diag([1e-8, 1e-8])
    return Refit("u_t", terms, np.array([1.0, 1e-3]), cov, {"u": 0.1}, np.full(600, left), True)


def test_errors_that_are_no_noise_make_small_terms_unsure():
    "Ten deviations of the noise are nothing where far more than noise is left."
    large, small = fitted(1.0).terms
    assert is_sure_of(fitted(1.0), small)
    assert not is_sure_of(fitted(1.7), small) and is_sure_of(fitted(1.7), large)
