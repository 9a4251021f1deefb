"""The rules of the chapters on small systems with answers known by hand: a small fault in a rule fails here.

Most systems below are made of columns of a Hadamard matrix: entries 1 and -1, any two columns orthogonal. Of a target
such as `2 h1 + 0.5 h2 + 0.3 h3` with candidates h1 and h2, the coefficients are 2 and 0.5, exactly, and the mean square
that is left is 0.3², exactly."""
from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import hadamard

import ubic
from ubic.choice.selection import prolonged
from ubic.criterion import improvements
from ubic.refit import Refit, total_least_squares
from ubic.splits import weak_in_blocks

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


def signs(rows, count):
    "So many orthogonal columns of 1 and -1, none of them constant."
    return hadamard(rows)[:, 1:count + 1].T.astype(float)


def two_terms(second, left, rows=64, n_eff=None):
    "A system with target h1 + second·h2 + left·h3, and the candidates h1 and h2."
    h1, h2, h3 = signs(rows, 3)
    return ubic.LinearSystem(np.stack([h1, h2], axis=1), h1 + second*h2 + left*h3, ["h1", "h2"], n_eff=n_eff)


def reasons(selection): return "; ".join(selection.verdict.reasons)


# the best subset of every size

@pytest.mark.parametrize("seed", [38, 41, 60])
def test_no_better_subset_breaks_the_promise_of_the_gap(seed):
    "A search without time says how much a better subset could save: at least what the whole search then saves."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((22, 21)) + rng.standard_normal((22, 1))
    system = ubic.LinearSystem(X, rng.standard_normal(22)) # noise, so that the first guess is often not the best
    with pytest.warns(ubic.UbicWarning, match="could save at most") as told:
        cut = ubic.best_subsets(system, 6, time_limit=1e-9)
    saved, gap = 1 - ubic.best_subsets(system, 6).rss/cut.rss, np.array(cut.certificate["gap"])
    assert 0.1 < max(saved) and (saved <= gap + 1e-9).all()
    assert f"could save at most {max(gap):.2%}" in str(told[-1].message)


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


# how sure the coefficients are

def test_bic_counts_independent_rows():
    "BIC is n log(what is left) + terms · log n, and n is the number of independent rows."
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, 0.1, rows=64, n_eff=16)))
    total = 1 + 0.5**2 + 0.1**2
    first = 16*np.log((0.5**2 + 0.1**2)/total) + np.log(16)
    second = 16*np.log(0.1**2/total) + 2*np.log(16)
    np.testing.assert_allclose(found.bic, [first, second])


def test_all_rows_count_when_asked_for():
    path = ubic.best_subsets(two_terms(0.5, 0.1, rows=64, n_eff=16))
    left = np.array([0.5**2 + 0.1**2, 0.1**2])/(1 + 0.5**2 + 0.1**2)
    bic = 64*np.log(left) + np.log(64)*np.array([1, 2])
    np.testing.assert_allclose(ubic.posterior.evidence(path, n_eff=None).bic, bic)


@pytest.mark.parametrize("n_eff, std", [(None, 0.05), (16, 0.1), (4, 0.2)]) # 0.4/√64, 0.4/√16, 0.4/√4
def test_standard_deviations_count_independent_rows(n_eff, std):
    "What is left, over the root of the number of independent rows: the standard deviation of a mean."
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, 0.4, rows=64, n_eff=n_eff)))
    mean, spread = found.coefficients(1)
    np.testing.assert_allclose(mean, [1, 0.5])
    np.testing.assert_allclose(spread, std)


@pytest.mark.parametrize("left", [0.1, 0.2, 0.8])
def test_standard_deviations_grow_with_what_is_left(left):
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, left, rows=64)))
    np.testing.assert_allclose(found.coefficients(1)[1], left/8)


def test_posterior_of_one_coefficient_by_hand():
    "Of 64 rows of variance 0.25 with a prior of variance 1: 1/(64/0.25 + 1)."
    h1, _ = signs(64, 2)
    belief = ubic.posterior.posterior(h1[:, None], 2*h1, 0.25)
    np.testing.assert_allclose(belief.cov, [[1/(64/0.25 + 1)]])


@pytest.mark.parametrize("mean", [(3, -4), (-3, 4), (7, 0)])
def test_the_spread_of_coefficients_is_a_ratio_of_sums(mean):
    "Eq. (8): deviations of 1 and 2 are 3 together, sizes of 3 and 4 are 7; their roots of squares are √5 and 5."
    belief = ubic.posterior.Posterior(np.array(mean, float), np.diag([1.0**2, 2.0**2]), 1.0)
    assert belief.cv == pytest.approx(3/7)


def test_uncertainty_is_a_multiple_of_the_least():
    "Coefficients 1, then 1 and 0.5: the deviations are what is left over √64, the spreads their sums over 1 and 1.5."
    found = ubic.posterior.evidence(ubic.best_subsets(two_terms(0.5, 0.4, rows=64)))
    spread = np.array([np.sqrt(0.5**2 + 0.4**2)/8, 2*0.4/8/1.5])
    np.testing.assert_allclose(found.cv, spread)
    np.testing.assert_allclose(found.uncertainty, spread/min(spread))


# the number of terms

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
    assert warned.advice[0].endswith("prevent overfitting.")


@pytest.mark.parametrize("second, gain, told", [(0.07, 8.03, False), (0.08, 12.04, True)])
def test_a_refused_term_that_lowers_bic_by_more_than_ten_is_remarked_on(second, gain, told):
    "The second term lowers BIC by 256 log(1 + second²/0.3²) - log 256, a share far below τ₀ = 0.5, so it is refused."
    chosen = ubic.select(ubic.best_subsets(two_terms(second, 0.3, rows=256)), tau0=0.5)
    assert chosen.size == 1 and chosen.bic[0] - chosen.bic[1] == pytest.approx(gain, abs=0.01)
    remark = [f"Size 2 (h1, h2) lowers BIC by {gain:.0f}, which is below τ₀ = 0.5 per term"]
    assert [sentence.partition(":")[0] for sentence in chosen.advice] == (remark if told else [])


def test_a_path_that_goes_on_counts_the_rows_it_was_told_to():
    "Of 64 rows 16 are to be counted, also for the sizes that the verdict tries beyond the end of the path."
    system = two_terms(0.5, 0.1, rows=64)
    cut, whole = (ubic.select(ubic.best_subsets(system, size), n_eff=16) for size in (1, 2))
    left = np.array([0.5**2 + 0.1**2, 0.1**2])/(1 + 0.5**2 + 0.1**2)
    np.testing.assert_allclose(whole.bic, 16*np.log(left) + np.log(16)*np.array([1, 2]))
    np.testing.assert_allclose(prolonged(cut).bic, whole.bic)


@pytest.mark.parametrize("second, gain, size", [(0.07997, 0.0195, 1), (0.08139, 0.0205, 2)])
def test_a_term_has_to_bring_two_percent(second, gain, size):
    "The default of τ₀ is that of the paper, 0.02: a second term that lowers BIC by less is left out."
    path = ubic.best_subsets(two_terms(second, 0.3, rows=256))
    chosen = ubic.select(path)
    assert improvements(chosen.bic, path.sizes)[0] == pytest.approx(gain, abs=1e-4) and chosen.size == size


def sum_or_parts(n_eff=None):
    "A target h1 + h2 + 0.2 h3, with candidates h1 + h2 and its two parts, each with a little of its own."
    h1, h2, h3, h4, h5 = signs(64, 5)
    X = np.stack([h1 + h2, h1 + 1e-3*h4, h2 + 1e-3*h5], axis=1)
    system = ubic.LinearSystem(X, h1 + h2 + 0.2*h3, ["sum", "first", "second"], n_eff=n_eff)
    return ubic.select(ubic.best_subsets(system))


def test_a_rival_pays_log_n_for_one_more_term():
    "The parts fit as well as their sum, so they are behind by the price of a term: log 64 = 4.16 in BIC, 2 in AIC."
    chosen = sum_or_parts()
    assert list(map(str, chosen.terms)) == ["sum"]
    assert chosen.equivalents(within=4.1) == []
    assert [list(map(str, terms)) for terms in chosen.equivalents(within=4.2)] == [["first", "second"]]


def test_a_rival_pays_log_n_of_independent_rows():
    "Of 16 independent rows, the price of a term is log 16 = 2.77."
    chosen = sum_or_parts(n_eff=16)
    assert list(map(str, chosen.terms)) == ["sum"]
    assert chosen.equivalents(within=2.7) == []
    assert [list(map(str, terms)) for terms in chosen.equivalents(within=2.8)] == [["first", "second"]]


def borderline():
    "A system whose second term Algorithm 1 takes or refuses by τ₀, and the relative gain in BIC of that term."
    path = ubic.best_subsets(two_terms(0.15, 0.3, rows=256))
    return path, float(improvements(ubic.select(path).bic, path.sizes)[0])


def test_half_and_twice_the_threshold_are_tried():
    "A choice that another τ₀ would change is fragile: one that 2 τ₀ would change, and one that τ₀/2 would change."
    path, gain = borderline()
    taken = ubic.select(path, tau0=0.75*gain)
    assert taken.size == 2 and taken.verdict == "fragile"
    assert f"τ₀ = {1.5*gain:.3g} would choose size 1" in taken.verdict.reasons
    refused = ubic.select(path, tau0=1.5*gain)
    assert refused.size == 1 and refused.verdict == "fragile"
    assert f"τ₀ = {0.75*gain:.3g} would choose size 2" in refused.verdict.reasons


@pytest.mark.parametrize("factor, size", [(0.4, 2), (2.5, 1)])
def test_a_threshold_far_from_the_gain_is_no_weak_point(factor, size):
    path, gain = borderline()
    chosen = ubic.select(path, tau0=factor*gain)
    assert chosen.size == size and "τ₀" not in reasons(chosen)


@pytest.mark.parametrize("second, doubtful", [(0.15, True), (0.199, True), (0.201, False), (0.5, False)])
def test_two_standard_deviations_make_a_coefficient(second, doubtful):
    "The standard deviation is 0.8/√64 = 0.1, so a coefficient below 0.2 is hardly different from zero."
    chosen = ubic.select(ubic.best_subsets(two_terms(second, 0.8, rows=64)))
    both = replace(chosen, k=1) # whatever the criterion says, look at the equation of two terms
    np.testing.assert_allclose(both.std, 0.1)
    assert ("the coefficient of h2 is hardly different from zero" in both.verdict.reasons) == doubtful
    assert "the coefficient of h1" not in reasons(both)


@pytest.mark.parametrize("n_eff, few", [(4, True), (8, True), (9.9, True), (10, False), (30, False)])
def test_a_coefficient_needs_five_independent_rows(n_eff, few):
    "Two coefficients need ten."
    chosen = ubic.select(ubic.best_subsets(two_terms(0.5, 0.01, rows=64, n_eff=n_eff)))
    assert chosen.size == 2
    assert (f"{n_eff:.1f} independent rows for 2 coefficients" in chosen.verdict.reasons) == few


# the chosen equation fitted once more

def fit_with(coef=(1.0,), std=(0.1,), left=1.0, rows=200):
    "The fit of an equation with these coefficients, that leaves so many times the variance of the noise in every box."
    terms = [f"x{j}" for j in range(len(coef))]
    residual = np.sqrt(left)*signs(256, 1)[0][:rows]
    return Refit("u_t", terms, np.array(coef), np.diag(np.square(std)), {"u": 0.1}, residual, True)


def test_certain_terms_are_two_standard_deviations_from_zero():
    assert fit_with(coef=(1.0, 0.199, -0.199, 0.201, -0.201), std=[0.1]*5).certain == ["x0", "x3", "x4"]


@pytest.mark.parametrize("left, explained", [(1.0, True), (1.24, True), (1.26, False), (2.0, False)])
def test_an_equation_explains_the_data_when_noise_is_what_is_left(left, explained):
    "The variance of 200 boxes of noise is 1 ± √(2/200) = 1 ± 0.1, and 2.5 times that deviation is allowed: up to 1.25."
    fit = fit_with(left=left, rows=200)
    assert fit.fair and fit.explains == explained and fit.leaves_more == (not explained)


@pytest.mark.parametrize("excess, fair", [(0.66, False), (0.67, True), (1.49, True), (1.51, False)])
def test_a_fair_fit_leaves_two_thirds_to_three_halves_of_the_noise(excess, fair):
    assert fit_with(left=excess**2).fair == fair


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_fit_pays_log_n_for_each_term(size):
    "The score is BIC: boxes · log(mean square of what is left) + terms · log(boxes); AIC would take 2 per term."
    fit = fit_with(coef=[1.0]*size, std=[0.1]*size, left=1.2, rows=200)
    assert fit.score == pytest.approx(200*np.log(1.2) + size*np.log(200))


def test_a_fit_beats_another_by_more_than_six():
    "Two terms that change nothing cost 2 log 20 = 5.99 in 20 boxes, 2 log 21 = 6.09 in 21."
    for boxes, beaten in ((20, False), (21, True)):
        short, long = (fit_with(coef=[1.0]*size, std=[0.1]*size, rows=boxes) for size in (1, 3))
        assert short.beats(long) == beaten and not long.beats(short)


def waves(decay, noise=0.02):
    "Heat in three waves, u_t = 0.5 u_xx - decay·u, with the same noise for any decay."
    x, t = np.arange(96)*2*np.pi/96, np.linspace(0, 1, 61)
    u = sum(np.exp(-(q**2*0.5 + decay)*t)*np.cos(q*x[:, None] + q) for q in (1, 2, 3))
    return ubic.as_field(u + noise*np.random.default_rng(0).standard_normal(u.shape), x=x, t=t)


def test_a_refit_is_less_sure_the_more_is_left():
    "Without its decay the equation leaves more than noise, and its standard deviation grows by as much."
    whole, lacking = (total_least_squares(waves(decay), ["u_xx"]) for decay in (0, 0.04))
    assert whole.explains and not lacking.explains and lacking.excess > 1.5*whole.excess
    assert lacking.std[0]/whole.std[0] == pytest.approx(lacking.excess/whole.excess, rel=0.1)


# the whole road

def test_what_clean_data_leave_unexplained_is_told():
    "Without its decay the equation leaves a small share of u_t, but clean data should leave none."
    chosen = ubic.discover(waves(0.15, noise=0), terms=["u_xx"], time_order=1)["u"]
    share = chosen.path.table()["unexplained"].iloc[chosen.k]
    assert 0.005 < share < 0.05
    assert chosen.verdict == "fragile" and "although the data hold hardly any noise" in reasons(chosen)


def test_what_noisy_data_leave_unexplained_is_told():
    chosen = ubic.discover(waves(0.1), terms=["u_xx"], time_order=1)["u"]
    assert chosen.refit is None and chosen.verdict == "fragile"
    assert "times the noise is left unexplained" in reasons(chosen)


# rows from separate blocks

def test_independent_rows_of_blocks_add_up():
    "Two halves of a field have the independent rows of the one and of the other."
    field, widths = waves(0), {"x": 0.6, "t": 0.15}
    parts = [field.isel(x=slice(0, 48)), field.isel(x=slice(48, 96))]
    halves = [ubic.library.weak(part, half_width=widths) for part in parts]
    both, block = weak_in_blocks(field, {"x": 2, "t": 1}, half_width=widths)
    assert both.n == sum(half.n for half in halves) == len(block) and halves[0].n_eff > 2
    assert both.n_eff == pytest.approx(halves[0].n_eff + halves[1].n_eff)
