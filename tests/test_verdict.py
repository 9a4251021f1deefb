"""Verdicts, second time derivatives, derivatives of products, and powers without the bias of noise."""
import numpy as np
import pytest

import ubic
from ubic.criterion import Verdict
from ubic.field import as_field
from ubic.library import strong, weak
from ubic.system import LinearSystem
from ubic.terms import Term, by_parts, candidates, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
x, t = np.arange(160)*0.125, np.linspace(0, 8, 130)


def standing(frequency, seed=0):
    rng, u = np.random.default_rng(seed), 0
    for q in 2*np.pi*np.arange(1, 8)/20:
        u = u + np.stack([np.cos(q*x), np.sin(q*x)], axis=1) @ rng.normal(size=(2, 2)) @ [np.cos(frequency(q)*t), np.sin(frequency(q)*t)]
    return as_field(u, x=x, t=t)


def test_verdict_is_a_word_with_reasons():
    verdict = Verdict("fragile", ["one", "two"])
    assert verdict == "fragile" and verdict.reasons == ("one", "two") and repr(verdict) == "fragile: one; two" and repr(Verdict("clear")) == "clear"


def test_single_wave_is_ambiguous():
    z, s = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    for noise in (0, 1, 10):
        heat = as_field(np.exp(-s)*np.sin(z)[:, None], x=z, t=s)
        assert ubic.discover(ubic.add_noise(heat, noise, seed=0) if noise else heat)["u"].verdict == "ambiguous"


def test_single_soliton_is_ambiguous():
    z, s, c = np.linspace(-30, 30, 256), np.linspace(0, 20, 120), 0.8
    soliton = as_field(3*c/np.cosh(np.sqrt(c)/2*(z[:, None] - c*(s - 10)))**2, x=z, t=s)
    for field in (soliton, ubic.add_noise(soliton, 5, seed=0)): assert ubic.discover(field)["u"].verdict == "ambiguous"


def test_burgers_is_clear():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0))
    assert found["u"].verdict == "clear" and found["u"].path.system.target == "u_t" and "Verdict: clear." in repr(found)


def test_units_and_order_do_not_change_the_verdict():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    y = X[:, 0] + 0.2*X[:, 1] + 0.5*rng.standard_normal(60)
    plain = ubic.select(ubic.best_subsets(LinearSystem(X, y)))
    rows, order = rng.permutation(60), [3, 1, 0, 2]
    other = ubic.select(ubic.best_subsets(LinearSystem((X*[1e-3, 5.0, 1e4, 1.0])[rows][:, order], 7*y[rows], [f"x{j}" for j in order])))
    assert plain.verdict == other.verdict == "fragile" and plain.verdict.reasons == other.verdict.reasons


@pytest.mark.parametrize("frequency, terms", [(lambda q: 1.5*q, {"u_xx": 2.25}), (lambda q: np.sqrt(q**2 + 2), {"u_xx": 1.0, "u": -2.0})])
def test_second_order_in_time_is_found(frequency, terms):
    field = standing(frequency)
    for noise in (0, 20):
        found = ubic.discover(ubic.add_noise(field, noise, seed=1) if noise else field)
        assert found.pde()["u_tt"].keys() == terms.keys()
        for term, coefficient in found.pde()["u_tt"].items(): assert coefficient == pytest.approx(terms[term], rel=0.03)


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
    with pytest.raises(ValueError, match="`time_order` is 3"): ubic.refit.total_least_squares(field, ["u"], time_order=3)
    with pytest.raises(TypeError, match="`data` must be a field or a LinearSystem, found int"): ubic.stability(3)


def test_derivatives_of_products_agree_with_the_product_rule():
    values = {"u": np.array([1.2, -0.7]), "v": np.array([0.3, 2.0])}
    jets = {("u", "x"): np.array([0.5, 1.0]), ("u", "xx"): np.array([-1.0, 0.2]), ("v", "x"): np.array([2.0, -3.0])}
    def derivative(name, axes): return jets[name, axes]
    np.testing.assert_allclose(evaluate(Term.parse("(u^3)_xx"), values, derivative), 3*values["u"]**2*jets["u", "xx"] + 6*values["u"]*jets["u", "x"]**2)
    np.testing.assert_allclose(evaluate(Term.parse("(u*v)_x"), values, derivative), values["u"]*jets["v", "x"] + values["v"]*jets["u", "x"])
    assert by_parts(Term.parse("(u*v)_xx")) == {("xx", ((("u", ""), 1), (("v", ""), 1))): 1.0}


def test_forms_agree_on_derivatives_of_products():
    field, terms = ubic.datasets.burgers(), ["(u^2)_x", "u_xx"]
    for system in (weak(field, terms=terms), weak(field, terms=terms, form="pysindy"), strong(field, terms=terms, crop=8)):
        np.testing.assert_allclose(np.linalg.lstsq(system.X, system.y, rcond=None)[0], [-0.5, 0.1], rtol=0.02)
    assert len(candidates(power=3, derivative_order=2, fluxes=True)) == 9


def test_powers_lose_the_bias_of_noise():
    "A cubic equation in noise: the linear term that plain cubes call for is gone."
    rng, s = np.random.default_rng(0), np.linspace(0, 2, 400)
    start = rng.uniform(0.3, 1.5, 300)[:, None]
    u = 1/np.sqrt(1/start**2 + 2*s) # u_t = -u³
    field = ubic.add_noise(as_field(u, x=np.arange(300.0), t=s), 30, seed=0)
    from ubic.library import _Jets, _noise_of, _plain, _survey
    terms = [Term.parse("u^3")]
    jets = _Jets(field, _plain(2), {"x": 1.0, "t": s[1]}, _noise_of(_survey(field), terms, ()))
    plain, unbiased = float((field.u**3).mean()), float(jets.power("u", "", 3).mean())
    assert abs(unbiased - (u**3).mean()) < 0.1*abs(plain - (u**3).mean())
    assert _noise_of(_survey(field), [Term.parse("u_x")], ()) == {} and _noise_of(_survey(field), terms, ("u",)) == {}


def test_noise_is_measured_and_told():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0))
    assert found.noise["u"] == pytest.approx(30, rel=0.05) and "Noise measured: " in repr(found) and "Noise measured: " in found._repr_html_()


def test_what_is_left_must_be_white():
    from dataclasses import replace
    selection = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0))["u"]
    assert selection.refit.white and selection.verdict == "clear"
    rng, (rows, columns) = np.random.default_rng(0), selection.refit.shape
    striped = np.repeat(rng.standard_normal((rows, columns//2 + 1)), 2, axis=1)[:, :columns].ravel()
    doubtful = replace(selection, refit=replace(selection.refit, residual=striped))
    assert not doubtful.refit.white and doubtful.verdict == "fragile" and "neighbouring boxes" in doubtful.verdict.reasons[0]
