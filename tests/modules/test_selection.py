"The choice of a size: rivals and weak points on small systems, verdicts, and reasons that programs can compare."
import copy
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

import ubic
from signs import reasons, signs, two_terms
from ubic.choice.selection import Reason, ReasonKind, prolonged
from ubic.criterion import Verdict, improvements
from ubic.field import as_field
from ubic.system import LinearSystem

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


def test_reasons_have_kinds_that_survive_copies():
    reason = Reason(ReasonKind.FEW_ROWS, rows=8.04, size=2)
    assert reason == "8.0 independent rows for 2 coefficients" and str(reason) == reason
    for other in (copy.copy(reason), copy.deepcopy(reason), pickle.loads(pickle.dumps(reason))):
        assert other == reason and other.kind is ReasonKind.FEW_ROWS and other.details == {"rows": 8.04, "size": 2}


def test_a_verdict_gives_reasons_of_their_kinds():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    X[:, 3] = X[:, 0] + 1e-3*rng.standard_normal(60)
    y = X[:, 0] + 0.2*X[:, 1] + 0.5*rng.standard_normal(60)
    verdict = ubic.select(ubic.best_subsets(ubic.LinearSystem(X, y))).verdict
    kinds = [reason.kind for reason in verdict.reasons]
    assert kinds[0] is ReasonKind.RIVAL and ReasonKind.RUNNER_UP in kinds
    details = {reason.kind: reason.details for reason in verdict.reasons}
    assert {str(term) for term in details[ReasonKind.RIVAL]["terms"]} <= {"x0", "x1", "x2", "x3"}
    assert set(details[ReasonKind.RUNNER_UP]) == {"size", "margin"}


@pytest.mark.parametrize("coef", [[1.0, 0.0, 0.0], [1.0, 0.0, -2.0]])
def test_the_tick_of_the_choice_is_clear_of_the_axis(coef):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    system = ubic.LinearSystem(X, X @ coef + 0.1*rng.standard_normal(200), terms=["u", "u_x", "u_xx"])
    selection = ubic.select(ubic.best_subsets(system))
    ax = selection.plot()
    ax.figure.canvas.draw()
    tick, = (text for text in ax.texts if text.get_text() == "✓")
    assert selection.size == np.count_nonzero(coef) and ax.get_window_extent().x0 < tick.get_window_extent().x0


def test_every_stage_shows_itself():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, 0.0, -2.0] + 0.1*rng.standard_normal(200)
    system = ubic.LinearSystem(X, y, terms=["u", "u_x", "u_xx"], target="<u>")
    selection = ubic.select(ubic.best_subsets(system))
    assert "&lt;u&gt;: 200 rows, 3 candidates" in system._repr_html_()
    assert repr(selection.evidence) == "Evidence(<u>: 3 sizes, unit-free mode, 200 rows counted)"
    for stage in (system, selection.path, selection.evidence, selection.evidence.posteriors[1], selection):
        shown = stage._repr_html_()
        assert "<table" in shown and all(ax.has_data() for ax in np.ravel(stage.plot())) and len(repr(stage)) < 500
    belief = selection.evidence.posteriors[1]
    assert belief.table().to_numpy() == pytest.approx(np.stack([belief.mean, belief.std], 1))
    assert [label.get_text() for label in belief.plot(["u", "u_xx"]).get_yticklabels()] == ["u", "u_xx"]


# --- systems with known answers ---------------------------------------------------------------------------------------

def test_a_path_that_goes_on_counts_the_rows_it_was_told_to():
    "Of 64 rows 16 are to be counted, also for the sizes that the verdict tries beyond the end of the path."
    system = two_terms(0.5, 0.1, rows=64)
    cut, whole = (ubic.select(ubic.best_subsets(system, size), n_eff=16) for size in (1, 2))
    left = np.array([0.5**2 + 0.1**2, 0.1**2])/(1 + 0.5**2 + 0.1**2)
    np.testing.assert_allclose(whole.bic, 16*np.log(left) + np.log(16)*np.array([1, 2]))
    np.testing.assert_allclose(prolonged(cut).bic, whole.bic)


def test_advice_is_shown_wherever_the_equation_is():
    "The second term brings too little for τ₀ = 6, and both ways of showing the choice say so."
    warned = ubic.select(ubic.best_subsets(two_terms(0.5, 0.01)), tau0=6)
    assert warned.advice and warned.sentences[-len(warned.advice):] == warned.advice
    for told in (repr(warned), warned._repr_html_()): assert "Size 2 improves BIC on size 1 by less than" in told


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


# --- verdicts ---------------------------------------------------------------------------------------------------------

def test_verdict_is_a_word_with_reasons():
    verdict = Verdict("fragile", ["one", "two"])
    assert verdict == "fragile" and verdict.reasons == ("one", "two")
    assert repr(verdict) == "fragile: one; two" and repr(Verdict("clear")) == "clear"


def test_a_path_that_ends_too_soon_is_not_clear():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    system = LinearSystem(X, X[:, 0] - 0.5*X[:, 1] + 0.1*rng.standard_normal(200))
    cut = ubic.select(ubic.best_subsets(system, 1))
    assert "the path ends at size 1, and a longer one would choose size 2" in repr(cut.verdict)
    assert ubic.select(ubic.best_subsets(system, 2)).verdict == "clear"


@pytest.mark.parametrize("seed", range(12))
def test_cutting_the_path_never_makes_a_choice_clear(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 7)) + 0.5*rng.standard_normal((80, 1))
    system = LinearSystem(X, X[:, :3] @ [1, -0.5, 0.2] + 0.4*rng.standard_normal(80))
    whole = ubic.select(ubic.best_subsets(system))
    for size in range(1, 7):
        cut = ubic.select(ubic.best_subsets(system, size))
        assert cut.verdict != "clear" or (whole.verdict == "clear" and cut.support == whole.support)


def test_equals_are_chosen_by_simplicity_not_by_order_or_units():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    X[:, 4] = 2*X[:, 1]
    y, names = X[:, 1] - X[:, 2] + 0.1*rng.standard_normal(60), [f"x{j}" for j in range(5)]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        order, scale = rng.permutation(5), 10.0**rng.uniform(-4, 4, 5)
        found = ubic.select(ubic.best_subsets(LinearSystem((X*scale)[:, order], y, [names[j] for j in order])))
        assert sorted(map(str, found.terms)) == ["x1", "x2"] and found.verdict == "ambiguous"
    z, s = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    heat = as_field(np.exp(-s)*np.sin(z)[:, None], x=z, t=s)
    for field in (heat, 1000*heat, heat.assign_coords(x=1e-3*heat.x)):
        assert [str(term) for term in ubic.discover(field)["u"].terms] == ["u"]


def test_a_twin_among_many_candidates_is_found():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 30))
    X[:, 10] = X[:, 0] + 1e-3*rng.standard_normal(400)
    y = X[:, :4].sum(axis=1) + 0.5*rng.standard_normal(400)
    assert ubic.select(ubic.best_subsets(LinearSystem(X, y), 5)).verdict == "ambiguous"


def test_an_ambiguous_choice_has_its_weak_points_listed_too():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    X[:, 3] = X[:, 0] + 1e-3*rng.standard_normal(60)
    system = LinearSystem(X, X[:, 0] + 0.2*X[:, 1] + 0.5*rng.standard_normal(60))
    verdict = ubic.select(ubic.best_subsets(system)).verdict
    assert verdict == "ambiguous" and "x3 explains the data as well" in verdict.reasons
    assert any("in UBIC" in reason for reason in verdict.reasons)


def test_a_size_that_is_ahead_is_not_called_behind():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 3))
    chosen = ubic.select(ubic.best_subsets(LinearSystem(X, X[:, 0] + X[:, 1] + 0.5*rng.standard_normal(80))))
    assert chosen.size == 2 and chosen.verdict == "clear"
    ahead = re.fullmatch(r"size 2 is ([\d.e+]+) ahead in UBIC", replace(chosen, k=0).verdict.reasons[0])
    assert float(ahead[1]) == pytest.approx(chosen.ubic[0] - chosen.ubic[1], rel=0.05)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("apart, noise", [(1e-2, 0.3), (1e-5, 0.3), (1e-8, 0.3), (1e-9, 0.3), (1e-9, 2), (2e-10, 1)])
def test_a_twin_does_not_make_a_larger_size_certain(seed, apart, noise):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 5))
    X[:, 4] = X[:, 0] + apart*X[:, 4]
    found = ubic.select(ubic.best_subsets(LinearSystem(X, X[:, 0] + 0.5*X[:, 1] + noise*rng.standard_normal(500))))
    assert not {0, 4} <= set(found.support) and found.verdict == "ambiguous" and found.uncertainty[-1] > 2
    assert noise > 0.3 or found.size == 2 and found.uncertainty[-1] > 10 # louder noise may drown the fainter term


def test_a_cut_path_is_prolonged_under_its_own_prior():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    X[:, 4] = X[:, 0] + 0.1*X[:, 4]
    system = LinearSystem(X, X[:, 0] + 0.2*X[:, 1] + 0.5*rng.standard_normal(60))
    whole = ubic.select(ubic.best_subsets(system), prior_mean="zero")
    cut = ubic.select(ubic.best_subsets(system, max_size=2), prior_mean="zero")
    np.testing.assert_allclose(prolonged(cut).uncertainty, whole.uncertainty)


@pytest.mark.parametrize("wrong, message", [
    ({"terms": []}, "`terms` must name candidates"), ({"terms": ["u_yyy"]}, "found u_yyy"),
    ({"within": np.nan}, "`within` must be a number, found nan"), ({"within": "a"}, "`within` must be a number"),
])
def test_equivalents_bad_inputs(wrong, message):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    found = ubic.select(ubic.best_subsets(LinearSystem(X, X[:, 0] + 0.1*X[:, 1])))
    with pytest.raises((ValueError, TypeError), match=message): found.equivalents(**wrong)


def test_units_and_order_do_not_change_the_verdict():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = X[:, 0] + 0.2*X[:, 1] + 0.5*rng.standard_normal(60)
    plain = ubic.select(ubic.best_subsets(LinearSystem(X, y)))
    rows, order = rng.permutation(60), [3, 1, 0, 2]
    moved = (X*[1e-3, 5.0, 1e4, 1.0])[rows][:, order]
    other = ubic.select(ubic.best_subsets(LinearSystem(moved, 7*y[rows], [f"x{j}" for j in order])))
    assert plain.verdict == other.verdict == "fragile" and plain.verdict.reasons == other.verdict.reasons
