"The contest of fits: what least squares begins with is not always what stays."
import numpy as np
import pytest

import ubic
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
