"The contest of fits: what least squares begins with is not always what stays."
from dataclasses import replace

import numpy as np
import pytest

import ubic
from signs import two_terms
from ubic.choice.contest import contenders, contest_for, exchange_terms, judgment_of, within_reach
from ubic.data.survey import Survey
from ubic.field import as_field
from ubic.terms import parse_term

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


@pytest.mark.parametrize("seed", [1, 6])
def test_a_choice_has_no_idle_terms_when_others_do_without(seed):
    "Least squares begins with two terms here, and nobody else proposes what is left of them."
    rng, z, s = np.random.default_rng(seed), np.arange(128)*20/128, np.linspace(0, 4, 21)
    waves = [(rng.normal()/np.sqrt(k), 2*np.pi*k/20, rng.uniform(0, 2*np.pi)) for k in range(1, 9)]
    def heat_at(when): return sum(a*np.exp(-0.3*q**2*when)*np.cos(q*z[:, None] + phase) for a, q, phase in waves)
    start, heat = heat_at(0), heat_at(s)
    refit = ubic.discover(ubic.add_noise(as_field(heat/np.abs(start).max(), x=z, t=s), 30, seed=seed))["u"].refit
    assert refit.certain == refit.terms


def test_an_exchange_counts_the_rows_it_was_told_to():
    "Of 64 rows 16 are to be counted, also where another equation takes the place of the chosen one."
    chosen = replace(ubic.select(ubic.best_subsets(two_terms(0.5, 0.1, rows=64)), n_eff=16), k=0)
    other = exchange_terms(chosen, chosen.path.system.terms[1:])
    assert list(map(str, other.terms)) == ["h2"]
    total = 1 + 0.5**2 + 0.1**2
    assert other.bic[0] == pytest.approx(16*np.log((1 + 0.1**2)/total) + np.log(16))


# --- what all candidates leave ----------------------------------------------------------------------------------------

def parsed(*names): return [parse_term(name) for name in names]


BURGERS = parsed("u_xx", "u*u_x")
OFFERED = parsed("u", "u^2", "u_x", "u_xx", "u*u_x", "u^2*u_x")


@pytest.fixture(scope="module")
def contest():
    "Between equations for Burgers' field with 30 % noise."
    noisy = ubic.add_noise(ubic.datasets.burgers(), 30, seed=0)
    return contest_for(noisy, Survey(noisy), OFFERED, target="u")


def test_all_candidates_leave_the_noise_where_the_true_terms_are_among_them(contest):
    assert 0.85 < contest.left_by_all(OFFERED) < 1.15


def test_all_candidates_leave_more_where_true_terms_are_missing(contest):
    assert contest.left_by_all(parsed("u", "u_x", "u_xx")) > 2
    assert contest.left_by_all(parsed("u", "u^2")) > 2


def test_no_equation_leaves_less_than_all_candidates(contest):
    fits = [contest.fit(terms) for terms in contest.searched(OFFERED)]
    assert min(fit.excess for fit in fits) > 0.95*contest.left_by_all(OFFERED)


def test_what_is_left_is_unknown_where_rows_are_too_few(contest):
    many = parsed(*(f"u^{power}*u_{'x'*order}" for power in range(1, 20) for order in range(1, 8)))
    assert np.isnan(contest.left_by_all(many)) and contest.white_system(many) is None


# --- who is heard -----------------------------------------------------------------------------------------------------

def test_rows_beside_an_equation_hold_it_and_all_others(contest):
    system = contest.rows_beside(BURGERS, OFFERED)
    assert system.terms[:2] == BURGERS and set(system.terms) == set(OFFERED)
    coef = np.linalg.lstsq(system.X[:, :2], system.y, rcond=None)[0]
    np.testing.assert_allclose(coef, contest.fit(BURGERS).coef, rtol=1e-6)
    assert contest.rows_beside(parsed("u_x"), OFFERED) is None # it explains nothing


def test_an_equation_far_behind_is_out_of_reach(contest):
    system = contest.rows_beside(BURGERS, OFFERED)
    longer = [*BURGERS, *parsed("u")]
    assert within_reach(system, [BURGERS, parsed("u_xx"), longer, BURGERS]) == [BURGERS, longer]
    assert within_reach(None, [BURGERS, parsed("u_x"), BURGERS]) == [BURGERS, parsed("u_x")] # nobody can tell


def test_the_equation_to_defend_is_heard_first_and_nothing_twice(contest):
    heard = contest.heard(BURGERS, OFFERED, [parsed("u_x"), BURGERS[::-1]])
    assert heard[0] == BURGERS and parsed("u_x") not in heard
    assert len(set(map(tuple, heard))) == len(heard) > 1


def test_the_true_equation_stands_against_more_candidates(contest):
    judgment = contest.challenge(BURGERS, [*OFFERED, *parsed("u_xxx", "u*u_xxx", "u^3")])
    assert judgment.terms == BURGERS and judgment.rivals == []


def test_idle_terms_are_left_out_by_a_judgment(contest):
    longer = [*BURGERS, *parsed("u")]
    judgment = judgment_of(contenders(contest, [longer]), longer)
    assert set(judgment.terms) == set(BURGERS)
