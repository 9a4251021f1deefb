"What could hide behind an equation, and why its terms are there: intervals hold what they promise."
import numpy as np
import pytest

import ubic
from equality import assert_same
from signs import heat_waves
from ubic.choice.limits import Limits, Standing, limits_of, standing_of
from ubic.choice.refit import Refitter
from ubic.data.survey import Survey
from ubic.terms import parse_term
from ubic.weakform.library import chosen_box

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")

OFFERED = [parse_term(name) for name in ("u", "u_x", "u_xx", "u^2", "u*u_x", "u^3")]
UXX = [parse_term("u_xx")]


def heat(seed, decay=0.0):
    "Heat in three waves with 2 % noise, u_t = 0.5 u_xx - decay·u."
    clean = heat_waves(decay, noise=0)
    return clean + 0.02*np.random.default_rng(seed).standard_normal(clean.u.shape)


def limits_without(seed, decay=0.0):
    "The limits of `u_xx` alone."
    field = heat(seed, decay)
    boxes = Refitter(field, "u", chosen_box(Survey(field), OFFERED, None, None))
    return limits_of(boxes, boxes.fit(UXX), OFFERED)


def test_intervals_of_what_is_not_there_hold_zero():
    held = np.array([np.abs(limits_without(seed).z) < 1.96 for seed in range(100)])
    assert held.shape == (100, len(OFFERED) - 1)
    assert 0.90 <= held.mean() <= 0.99 and (held.mean(axis=0) > 0.85).all()


def test_a_term_that_is_missing_is_outside():
    for seed in range(5):
        limits = limits_without(seed, decay=0.2)
        table = limits.table()
        assert table.loc["u", "to"] < 0 and abs(limits.z[limits.terms.index(parse_term("u"))]) > 4
        assert table.loc["u", "if added"] == pytest.approx(-0.2, abs=4*limits.std[limits.terms.index(parse_term("u"))])


def test_limits_in_other_units_are_the_same_limits():
    field = heat(0)
    other = field.assign_coords(x=field.x*1000, t=field.t/3600).map(lambda u: 500*u)
    one, two = (
        limits_of(boxes, boxes.fit(UXX), OFFERED)
        for boxes in (Refitter(each, "u", chosen_box(Survey(each), OFFERED, None, None)) for each in (field, other))
    )
    np.testing.assert_allclose(two.z, one.z, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(two.hidden, one.hidden, rtol=1e-4)


@pytest.fixture(scope="module")
def found(): return ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0), derivative_order=2)["u"]


def test_limits_name_every_candidate_that_was_left_out(found):
    chosen, left_out = set(map(str, found.terms)), set(map(str, found.limits().terms))
    assert chosen == {"u_xx", "u*u_x"} and not chosen & left_out
    assert chosen | left_out == set(map(str, found.path.system.terms))


def test_why_tells_what_a_term_is_worth(found):
    why = found.why()
    assert set(map(str, why.terms)) == {"u_xx", "u*u_x"} and (why.lost > 100).all() and (why.z > 10).all()
    assert all(behind > 6 for behind in why.behind) and not why.close_rivals


def test_why_of_a_term_that_was_dropped(found):
    "Left out: its interval holds zero, or nearly so; without it the equation explains as much."
    limits = found.limits()
    place = list(map(str, limits.terms)).index("u_x")
    assert abs(limits.z[place]) < 4 and limits.hidden[place] < 0.25
    assert "u_x" in limits.table().index and "u_x" not in found.why().table().index


def test_rivals_that_are_hardly_behind_are_close():
    numbers = np.ones(1)
    why = Standing("u_t", UXX, numbers, numbers, numbers, numbers, (("u",), ("u_x",), ("u^3",)), (-8.0, 5.9, 6.1))
    assert why.close_rivals == [("u",), ("u_x",)]


def test_only_some_terms_of_a_standing():
    field = heat(0)
    terms = [*UXX, parse_term("u")]
    boxes = Refitter(field, "u", chosen_box(Survey(field), OFFERED, None, None))
    both = standing_of(boxes, boxes.fit(terms))
    alone = both.only(UXX)
    assert alone.terms == UXX and alone.coef == both.coef[:1] and both.lost[0] > 100 > both.lost[1]


def test_both_are_kept_in_files(found, tmp_path):
    again = ubic.load_result(found.save(tmp_path/"chosen.npz"))
    assert_same(found, again)
    assert_same(found.limits(), Limits.load(found.limits().save(tmp_path/"limits.npz")))
    assert_same(found.why(), Standing.load(found.why().save(tmp_path/"why.npz")))
    assert repr(again.limits()) == repr(found.limits()) and repr(again.why()) == repr(found.why())


def test_what_was_not_measured_is_said():
    chosen = ubic.select(ubic.best_subsets(ubic.library.weak(heat(0))))
    for ask in (chosen.limits, chosen.why):
        with pytest.raises(ValueError, match="was not measured for this choice"): ask()
