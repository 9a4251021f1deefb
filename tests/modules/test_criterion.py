"The criterion on systems with answers known by hand, and on the published curves."
import numpy as np
import pytest

import ubic
from signs import two_terms
from ubic import recipes
from ubic.criterion import improvements, tune

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


# --- systems with known answers ---------------------------------------------------------------------------------------

def test_the_penalty_counts_independent_rows():
    "Its scale is log n, and its largest weight the largest of (2 log-likelihood - n log terms)/(scale · uncertainty)."
    chosen = ubic.select(ubic.best_subsets(two_terms(0.5, 0.1, rows=64, n_eff=16)))
    assert chosen.gamma == pytest.approx(np.log(16))
    fits = 2*chosen.evidence.log_likelihood - np.log(16)*np.array([1, 2])
    assert 10**chosen.trace[0]["lam"] == pytest.approx(max(fits/(np.log(16)*chosen.uncertainty)))


def test_a_gain_below_the_threshold_is_warned_of():
    "The second term, chosen at the outset, lowers BIC from -99 to -595, by 5 times 99: too little for τ₀ = 6."
    path = ubic.best_subsets(two_terms(0.5, 0.01))
    gain = improvements(ubic.select(path).bic, path.sizes)[0]
    assert gain == pytest.approx(5.0, abs=0.1)
    warned, fine = ubic.select(path, tau0=6), ubic.select(path, tau0=3)
    assert warned.size == fine.size == 2 and fine.advice == []
    assert len(warned.advice) == 1 and warned.advice[0].startswith("Size 2 improves BIC on size 1 by less than τ₀ = 6:")
    assert "more data" in warned.advice[0] and "`why()`" in warned.advice[0] and "tau0" not in warned.advice[0]


@pytest.mark.parametrize("second, gain, told", [(0.07, 8.03, False), (0.08, 12.04, True)])
def test_a_refused_term_that_lowers_bic_by_more_than_ten_is_remarked_on(second, gain, told):
    "The second term lowers BIC by 256 log(1 + second²/0.3²) - log 256, a share far below τ₀ = 0.5, so it is refused."
    chosen = ubic.select(ubic.best_subsets(two_terms(second, 0.3, rows=256)), tau0=0.5)
    assert chosen.size == 1 and chosen.bic[0] - chosen.bic[1] == pytest.approx(gain, abs=0.01)
    remark = [f"Size 2 (h1, h2) lowers BIC by {gain:.0f}, which is below τ₀ = 0.5 per term"]
    assert [sentence.partition(":")[0] for sentence in chosen.advice] == (remark if told else [])


@pytest.mark.parametrize("second, gain, size", [(0.07997, 0.0195, 1), (0.08139, 0.0205, 2)])
def test_a_term_has_to_bring_two_percent(second, gain, size):
    "The default of τ₀ is that of the paper, 0.02: a second term that lowers BIC by less is left out."
    path = ubic.best_subsets(two_terms(second, 0.3, rows=256))
    chosen = ubic.select(path)
    assert improvements(chosen.bic, path.sizes)[0] == pytest.approx(gain, abs=1e-4) and chosen.size == size


# --- the published curves ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name, target", recipes.published_gamma.index)
def test_generalised_criterion_on_the_published_curves(name, target):
    curves = recipes.published_curves
    bic, uncertainty = (np.array(curves[name, target, quantity, True]) for quantity in ("BIC", "uncertainty"))
    sizes = np.arange(1, len(bic) + 1)
    lam_max, tau0 = np.log10(np.max(-bic/uncertainty)), np.percentile(improvements(bic, sizes), 75)
    size, _, trace = tune(bic, uncertainty, sizes, lam_max=lam_max, gamma=1.0, tau0=tau0)
    accepted = [step["lam"] for step in trace if step["accepted"] and step["lam"] > 0]
    assert accepted[-1] == pytest.approx(recipes.published_gamma.loc[(name, target), "lam"], abs=1e-4)
    assert sizes[size] == recipes.published.loc[(name, target, True), "size"]
