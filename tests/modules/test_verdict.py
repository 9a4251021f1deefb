"""Verdicts, second time derivatives, derivatives of products, and powers without the bias of noise."""
import json
import re
from dataclasses import replace

import numpy as np
import pytest

import ubic
from ubic.cli import main
from ubic.criterion import Verdict
from ubic.choice.selection import prolonged
from ubic.denoise import noise_level
from ubic.field import as_field
from ubic.library import strong, weak
from ubic.pipeline import Discovery
from ubic.report import to_html
from ubic.system import LinearSystem
from ubic.terms import Term, by_parts, candidates, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
x, t = np.arange(160)*0.125, np.linspace(0, 8, 130)


def standing(frequency, seed=0):
    rng, u = np.random.default_rng(seed), 0
    for q in 2*np.pi*np.arange(1, 8)/20:
        shapes, turn = np.stack([np.cos(q*x), np.sin(q*x)], axis=1), frequency(q)*t
        u = u + shapes @ rng.normal(size=(2, 2)) @ [np.cos(turn), np.sin(turn)]
    return as_field(u, x=x, t=t)


def test_verdict_is_a_word_with_reasons():
    verdict = Verdict("fragile", ["one", "two"])
    assert verdict == "fragile" and verdict.reasons == ("one", "two")
    assert repr(verdict) == "fragile: one; two" and repr(Verdict("clear")) == "clear"


def test_single_wave_is_ambiguous():
    z, s = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    for noise in (0, 1, 10):
        heat = as_field(np.exp(-s)*np.sin(z)[:, None], x=z, t=s)
        assert ubic.discover(ubic.add_noise(heat, noise, seed=0) if noise else heat)["u"].verdict == "ambiguous"


def test_single_soliton_is_ambiguous():
    z, s, c = np.linspace(-30, 30, 256), np.linspace(0, 20, 120), 0.8
    soliton = as_field(3*c/np.cosh(np.sqrt(c)/2*(z[:, None] - c*(s - 10)))**2, x=z, t=s)
    for field in (soliton, ubic.add_noise(soliton, 5, seed=0)): assert ubic.discover(field)["u"].verdict == "ambiguous"


@pytest.mark.parametrize("speed", [1, 4])
@pytest.mark.parametrize("noise", [5, 50])
def test_a_travelling_sine_is_ambiguous(speed, noise):
    z, s = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    wave = as_field(np.sin(z[:, None] - speed*s), x=z, t=s)
    for seed in range(4):
        found = ubic.discover(ubic.add_noise(wave, noise, seed=seed), derivative_order=3)
        assert found["u"].verdict == "ambiguous"


def test_wrong_equations_of_clean_data_are_not_clear():
    for field, settings in ((ubic.datasets.kdv(), {"derivative_order": 2}), (ubic.datasets.burgers(), {"max_size": 1})):
        found = ubic.discover(field, **settings)["u"]
        assert found.verdict == "fragile" and any("hardly any noise" in reason for reason in found.verdict.reasons)


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


@pytest.mark.parametrize("seed", [1, 6])
def test_a_choice_has_no_idle_terms_when_others_do_without(seed):
    "Least squares begins with two terms here, and nobody else proposes what is left of them."
    rng, z, s = np.random.default_rng(seed), np.arange(128)*20/128, np.linspace(0, 4, 21)
    waves = [(rng.normal()/np.sqrt(k), 2*np.pi*k/20, rng.uniform(0, 2*np.pi)) for k in range(1, 9)]
    def heat_at(when): return sum(a*np.exp(-0.3*q**2*when)*np.cos(q*z[:, None] + phase) for a, q, phase in waves)
    start, heat = heat_at(0), heat_at(s)
    refit = ubic.discover(ubic.add_noise(as_field(heat/np.abs(start).max(), x=z, t=s), 30, seed=seed))["u"].refit
    assert refit.certain == refit.terms


def test_terms_that_cannot_be_told_apart_have_wide_intervals():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2))
    X[:, 1] = X[:, 0] + 1e-6*X[:, 1]
    path = ubic.best_subsets(LinearSystem(X, X[:, 0] + 0.5*rng.standard_normal(100)))
    assert (ubic.select(path).evidence.coefficients(1)[1] > 1e4).all()


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


def test_burgers_is_clear():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0))
    assert found["u"].verdict == "clear" and found["u"].path.system.target == "u_t" and "Verdict: clear." in repr(found)


def test_units_and_order_do_not_change_the_verdict():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = X[:, 0] + 0.2*X[:, 1] + 0.5*rng.standard_normal(60)
    plain = ubic.select(ubic.best_subsets(LinearSystem(X, y)))
    rows, order = rng.permutation(60), [3, 1, 0, 2]
    moved = (X*[1e-3, 5.0, 1e4, 1.0])[rows][:, order]
    other = ubic.select(ubic.best_subsets(LinearSystem(moved, 7*y[rows], [f"x{j}" for j in order])))
    assert plain.verdict == other.verdict == "fragile" and plain.verdict.reasons == other.verdict.reasons


@pytest.mark.parametrize("frequency, terms", [
    (lambda q: 1.5*q, {"u_xx": 2.25}), (lambda q: np.sqrt(q**2 + 2), {"u_xx": 1.0, "u": -2.0}),
])
def test_second_order_in_time_is_found(frequency, terms):
    field = standing(frequency)
    for noise in (0, 20):
        found = ubic.discover(ubic.add_noise(field, noise, seed=1) if noise else field)
        assert found.pde()["u_tt"].keys() == terms.keys()
        for term, coefficient in found.pde()["u_tt"].items(): assert coefficient == pytest.approx(terms[term], rel=0.03)


def test_truth_of_second_order_is_known():
    field = standing(lambda q: 1.5*q).assign_attrs(pde='{"u_tt": {"u_xx": 2.25}}')
    assert ubic.discover(field, time_order=2).errors()["u"].max() < 0.1
    runs = ubic.stability(field, seeds=0, tau0s=[], windows=[1.2], solvers=[], time_order=2)
    assert runs.share == 1 and runs.table()["true"].iloc[0] == "✓"
    wrong = field.assign_attrs(pde='{"u": {"u_xx": 2.25}}')
    assert np.isinf(ubic.discover(wrong, time_order=2).errors()["u"]).all()


def test_damping_is_a_candidate():
    faded = standing(lambda q: 1.5*q)*np.exp(-t/5)
    system = weak(faded, terms=["u", "u_xx", "u_t"], time_order=2)
    np.testing.assert_allclose(np.linalg.lstsq(system.X, system.y, rcond=None)[0], [-0.04, 2.25, -0.4], rtol=2e-3)


def test_time_order_bad_inputs():
    field = standing(lambda q: q)
    with pytest.raises(ValueError, match="`time_order` is 3"): weak(field, time_order=3)
    with pytest.raises(ValueError, match="`time_order`"): strong(field, time_order=0)
    with pytest.raises(ValueError, match="`terms` has u_t"): weak(field, terms=["u_t", "u"])
    with pytest.raises(ValueError, match="`order` along t"): weak(field, time_order=2, order={"t": 1})
    with pytest.raises(ValueError, match="`time_order` is 3"):
        ubic.refit.total_least_squares(field, ["u"], time_order=3)
    with pytest.raises(TypeError, match="`data` must be a field or a LinearSystem, found int"): ubic.stability(3)


def test_derivatives_of_products_agree_with_the_product_rule():
    values = {"u": np.array([1.2, -0.7]), "v": np.array([0.3, 2.0])}
    jets = {("u", "x"): np.array([0.5, 1.0]), ("u", "xx"): np.array([-1.0, 0.2]), ("v", "x"): np.array([2.0, -3.0])}
    def derivative(name, axes): return jets[name, axes]
    cubic = 3*values["u"]**2*jets["u", "xx"] + 6*values["u"]*jets["u", "x"]**2
    product = values["u"]*jets["v", "x"] + values["v"]*jets["u", "x"]
    np.testing.assert_allclose(evaluate(Term.parse("(u^3)_xx"), values, derivative), cubic)
    np.testing.assert_allclose(evaluate(Term.parse("(u*v)_x"), values, derivative), product)
    assert by_parts(Term.parse("(u*v)_xx")) == {("xx", ((("u", ""), 1), (("v", ""), 1))): 1.0}


def test_forms_agree_on_derivatives_of_products():
    field, terms = ubic.datasets.burgers(), ["(u^2)_x", "u_xx"]
    both = weak(field, terms=terms), weak(field, terms=terms, form="pysindy")
    for system in (*both, strong(field, terms=terms, crop=8)):
        np.testing.assert_allclose(np.linalg.lstsq(system.X, system.y, rcond=None)[0], [-0.5, 0.1], rtol=0.02)
    assert len(candidates(power=3, derivative_order=2, fluxes=True)) == 9


def test_powers_lose_the_bias_of_noise():
    "A cubic equation in noise: the linear term that plain cubes call for is gone."
    rng, s = np.random.default_rng(0), np.linspace(0, 2, 400)
    start = rng.uniform(0.3, 1.5, 300)[:, None]
    u = 1/np.sqrt(1/start**2 + 2*s) # u_t = -u³
    field = ubic.add_noise(as_field(u, x=np.arange(300.0), t=s), 30, seed=0)
    from ubic.weakform.derivatives import Jets
    from ubic.weakform.library import noise_of_unknowns
    from ubic.weakform.derivatives import plain_differences
    from ubic.data.survey import as_survey
    terms = [Term.parse("u^3")]
    jets = Jets(field, plain_differences(2), {"x": 1.0, "t": s[1]}, noise_of_unknowns(as_survey(field), terms, ()))
    plain, unbiased = float((field.u**3).mean()), float(jets.power("u", "", 3).mean())
    assert abs(unbiased - (u**3).mean()) < 0.1*abs(plain - (u**3).mean())
    assert noise_of_unknowns(as_survey(field), [Term.parse("u_x")], ()) == {}
    assert noise_of_unknowns(as_survey(field), terms, ("u",)) == {}


def test_noise_is_measured_and_told():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0))
    assert found.noise["u"] == pytest.approx(30, rel=0.05)
    assert "Noise measured: " in repr(found) and "Noise measured: " in found._repr_html_()


@pytest.mark.parametrize("percent", [10, 30, 100])
def test_measured_noise_is_counted_as_it_was_added(percent):
    "In percent of the clean field: the variance of the noise is taken out of that of the data."
    z, s = np.linspace(0, 6, 300), np.linspace(0, 5, 200)
    wave = as_field(np.sin(z[:, None] - s), x=z, t=s)
    noisy = ubic.add_noise(wave, percent, seed=0)
    level = noise_level(noisy)["u"]
    measured = Discovery({}, noisy, noisy).noise["u"]
    assert measured == pytest.approx(100*level/np.sqrt(float(noisy.u.var()) - level**2))
    assert measured == pytest.approx(percent, rel=0.1)


def test_white_noise_is_told_in_words(tmp_path, monkeypatch, capsys):
    "Nothing is left of its variance, so no percentage is printed, on no road."
    monkeypatch.chdir(tmp_path)
    white = as_field(np.random.default_rng(1).standard_normal((64, 50)), x=np.arange(64.0), t=np.arange(50.0))
    found = ubic.discover(white, derivative_order=1, max_size=2)
    assert found.noise == {"u": np.inf} and found.noise_text == "1000 % or more of u"
    for told in (repr(found), found._repr_html_()): assert "Noise measured: 1000 % or more of u." in told
    assert ">1000 % or more of u<" in to_html(found)
    ubic.save_field(white, "white.npz")
    options = ["discover", "white.npz", "--derivative-order", "1", "--max-size", "2"]
    assert main(options) == 0 and "Noise measured: 1000 % or more of u." in capsys.readouterr().out
    assert main([*options, "--json"]) == 0 and json.loads(capsys.readouterr().out)["u"]["noise_percent"] is None


@pytest.mark.parametrize("level, variance, words", [
    (0, 25, "0 %"), (3, 25, "75 %"), (4, 25, "133 %"),
    (1, 1.0001, "1000 % or more"), (1, 1, "1000 % or more"), (1, 0.9, "1000 % or more"),
])
def test_percentage_of_noise_by_hand(level, variance, words, monkeypatch):
    "Noise of level 3 on data of variance 25: the clean field has the variance 25 - 9 = 16, and 3 is 75 % of 4."
    wave = np.sin(np.arange(40.0)[:, None] - np.arange(30.0))
    field = as_field(wave*np.sqrt(variance/wave.var()), x=np.arange(40.0), t=np.arange(30.0))
    monkeypatch.setattr("ubic.trial.discovery.noise_level", lambda field: {"u": level})
    assert Discovery({}, field, field).noise_text == f"{words} of u"


def test_what_is_left_must_be_white():
    from dataclasses import replace
    selection = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0))["u"]
    assert selection.refit.white and selection.verdict == "clear"
    rng, (rows, columns) = np.random.default_rng(0), selection.refit.shape
    striped = np.repeat(rng.standard_normal((rows, columns//2 + 1)), 2, axis=1)[:, :columns].ravel()
    doubtful = replace(selection, refit=replace(selection.refit, residual=striped))
    assert not doubtful.refit.white and doubtful.verdict == "fragile"
    assert "neighbouring boxes" in doubtful.verdict.reasons[0]
