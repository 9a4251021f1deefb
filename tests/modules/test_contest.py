"The contest of fits: what least squares begins with is not always what stays."
from dataclasses import replace

import numpy as np
import pytest

import ubic
from signs import two_terms
from ubic.choice.contest import exchange_terms
from ubic.field import as_field

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
