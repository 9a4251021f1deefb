"""Does an equation reproduce the data? Simulation with fitted starts."""
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
import xarray as xr

import ubic
from ubic.validation import validate

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def burgers(): return ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0))


def test_the_true_size_wins_and_reproduces(burgers):
    validation = validate(burgers)
    assert validation.wins and validation.size == 2 and validation.reproduces and validation.margin > 5
    equation = validation.equations[0]
    truth = [{"u_xx": 0.1, "u*u_x": -1.0}[str(term)] for term in equation.terms]
    assert (np.abs(np.array(equation.coef) - truth) < 4*np.array(equation.std)).all()
    assert list(validation.scores["size"]) == [2, 3, 1] and "behind in BIC" in repr(validation)


def test_the_number_of_windows_does_not_decide(burgers):
    for windows in (1, 2, 8): assert validate(burgers, windows=windows).wins


def test_divergence_is_scored(burgers):
    validation = validate(burgers, competitors=[{"u_xx": -0.1, "u*u_x": -1.0}], fit_coefficients=False)
    assert np.isinf(validation.scores["BIC"].iloc[1])
    assert validation.scores["diverged after"].iloc[1] > 0
    assert "diverges" in repr(validation)


@pytest.fixture(scope="module")
def backward(burgers):
    "A discovery whose diffusion has the wrong sign, which nothing survives."
    wrong = replace(burgers["u"], refit=replace(burgers["u"].refit, coef=np.array([-0.1, -1.0])))
    return ubic.Discovery({"u": wrong}, burgers.field, burgers.used)


def test_when_all_runs_diverge(backward):
    validation = validate(backward, competitors=[{"u_xx": -0.2, "u*u_x": -1.0}], fit_coefficients=False)
    assert not np.isfinite(validation.scores["BIC"]).any()
    assert not validation.wins
    assert not validation.reproduces
    assert validation.field is None
    assert validation.sentences[0].startswith("All runs diverge, that of the chosen PDE ")
    assert validation.sentences[0].endswith("so a simulation cannot judge these equations.")
    data, bars = validation.plot()
    lengths = [bar.get_width() for bar in bars.patches]
    assert lengths == validation.scores["diverged after"].tolist()
    assert min(lengths) > 0
    assert "lost after" in bars.texts[0].get_text()
    assert bars.get_xlabel() == "time until the run diverges"
    assert len(data.collections) == 1 and data.get_title() == "long waves of the data"
    alone = validate(backward, competitors=[], fit_coefficients=False)
    assert alone.sentences[0].startswith("The run diverges ")
    assert "this equation" in alone.sentences[0]
    assert len(alone.plot()) == 2


def test_divergence_is_timed_from_the_start_of_a_window(backward):
    late = backward.field.assign_coords(t=backward.field.t + 100)
    def run(other, field):
        return validate(backward, field, competitors=[{"u_xx": other, "u*u_x": -1.0}], fit_coefficients=False)
    told = [run(other, field) for other in (-0.2, 0.1) for field in (backward.field, late)]
    for here, there in (told[:2], told[2:]):
        time = here.scores["diverged after"].iloc[0]
        assert there.scores["diverged after"].iloc[0] == pytest.approx(time)
        assert f" {time:.3g} after its start" in here.sentences[0]
        assert here.sentences == there.sentences
    lost = validate(
        ubic.Discovery({"u": replace(backward["u"], refit=None)}, late, late),
        competitors=[{"u_xx": -0.1, "u*u_x": -1.0}], fit_coefficients=False,
    )
    assert f"u_t: u_xx, u*u_x diverges {lost.scores['diverged after'].iloc[1]:.3g} after its start." in lost.sentences
    assert not any("t = " in sentence for sentence in lost.sentences)


def test_when_only_the_chosen_run_diverges(backward):
    validation = validate(
        backward, competitors=[{"u_xx": 0.1, "u*u_x": -1.0}, {"u*u_x": -1.0, "u_xx": 0.2}], fit_coefficients=False,
    )
    _, bars = validation.plot()
    assert not validation.wins
    assert "The chosen PDE diverges" in validation.sentences[0]
    assert [text.get_text().splitlines()[-1][:16] for text in bars.texts][0] == "chosen, diverges"
    assert np.isfinite([bar.get_width() for bar in bars.patches]).all()
    assert bars.get_xlabel() == "BIC behind the best PDE"
    assert bars.texts[1].get_text().endswith("the best")


def doubtful(found, *rivals):
    return ubic.Discovery(
        {"u": replace(found["u"], rivals=[list(map(ubic.Term.parse, terms.split())) for terms in rivals])}, found.field,
        found.used,
    )


def test_rivals_of_the_verdict_compete(burgers):
    found = doubtful(burgers, "u_x u_xx", "u*u_x", "u_xxxx u^3", "v_x")
    validation = validate(found)
    # one of them is a neighbour, too
    assert found["u"].verdict == "ambiguous"
    assert list(validation.scores["terms"]) == [
        "u_t: u*u_x, u_xx", "u_t: u_x, u*u_x, u_xx", "u_t: u*u_x", "u_t: u_x, u_xx", "u_t: u_xxxx, u^3",
    ]
    rivals = "u_t: u_x, u_xx; u_t: u*u_x; u_t: u_xxxx, u^3"
    assert f"Among the competitors are the rivals of the verdict: {rivals}." in validation.sentences
    assert any(sentence.startswith("Not run") and "u_t: v_x;" in sentence for sentence in validation.sentences)
    assert validation.wins and not any("there once" in sentence for sentence in validation.sentences)
    assert len(validate(found, competitors=[]).scores) == 1
    assert len(validate(found["u"], burgers.field).scores) == 5
    assert len(validate(burgers).scores) == 3


def single_mode(u, noise):
    x, t = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    return ubic.discover(ubic.add_noise(ubic.as_field(u(x[:, None], t), x=x, t=t), noise, seed=0))


@pytest.mark.parametrize(
    "u, noise", [(lambda x, t: np.sin(x - t), 10), (lambda x, t: np.exp(-t)*np.sin(x), 1)], ids=["mode", "heat"],
)
def test_rivals_beyond_the_last_library_are_run(u, noise):
    found = single_mode(u, noise)
    rivals, validation = found["u"].rivals, validate(found)
    candidates = set(map(str, found["u"].path.system.terms))
    assert rivals and any(not set(map(str, terms)) <= candidates for terms in rivals)
    ran = dict(zip(validation.scores["terms"], validation.scores["left / noise"]))
    for terms in rivals[:5]: assert np.isfinite(ran["u_t: " + ", ".join(map(str, terms))])
    assert not any(sentence.startswith("Not run") for sentence in validation.sentences)
    assert any(sentence.startswith("Among the competitors") for sentence in validation.sentences)
    assert len(validate(found, competitors=rivals[:1]).scores) == 2


def test_small_gaps_have_a_plain_axis(burgers):
    chosen = validate(burgers, competitors=[{"u*u_x": -1.0}])
    for gaps, scale in (
        ([0, 7.3, 0.1], "linear"), ([0, -9, np.inf], "symlog"), ([0, -4, np.inf], "linear"), ([0, 7.3, 700], "symlog"),
    ):
        bars = replace(chosen, scores=chosen.scores.iloc[[0, 1, 1]].assign(BIC=np.array(gaps) - 100.0)).plot()[-1]
        bars.figure.canvas.draw()
        assert bars.get_xscale() == scale
        assert len(bars.get_xticks()) > 2
        assert not any("." in text.get_text() and "10^" in text.get_text() for text in bars.get_xticklabels())
        words = {np.inf: "diverges", 0.1: "as good"}
        told = [words.get(gap, f"{gap:+.3g}") for gap in gaps[1:]]
        assert [text.get_text().splitlines()[-1] for text in bars.texts] == ["chosen", *told]


def test_a_rival_of_second_order_is_fitted():
    x, t = np.arange(96)*20/96, np.linspace(0, 6, 90)
    standing = sum(np.cos(k*2*np.pi*x/20 + k)[:, None]*np.cos(1.5*k*2*np.pi/20*t + 2*k)/k for k in range(1, 5))
    found = doubtful(
        ubic.discover(
            ubic.add_noise(ubic.as_field(standing, x=x, t=t), 10, seed=0), time_order=2,
            terms=["u", "u_x", "u^2", "u_xx"],
        ),
        "u_xxxx u",
    )
    validation = validate(found)
    assert validation.scores["terms"].iloc[-1] == "u_tt: u_xxxx, u"
    assert "the rivals of the verdict: u_tt: u_xxxx, u." in repr(validation)


def test_many_rivals_are_not_all_run(burgers, monkeypatch):
    monkeypatch.setattr("ubic.trial.competitors.MOST_RIVALS", 1)
    sentences = validate(doubtful(burgers, "u_x u_xx", "u^2 u_xx", "u u_xx")).sentences
    assert "Of the 3 rivals of the verdict only 1 were run; give the others as `competitors`." in sentences


def test_a_wrong_equation_does_not_reproduce(burgers):
    wrong = ubic.discover(burgers.field, terms=["u", "u_x", "u_xx", "u_xxx"])
    validation = validate(wrong, competitors=[{"u_xx": 0.1, "u*u_x": -1.0}])
    assert not validation.reproduces
    assert not validation.wins
    assert validation.margin < -100
    assert "does not reproduce" in repr(validation)


def test_coefficients_as_they_are(burgers):
    validation = validate(burgers, competitors=[{"u_xx": 0.3, "u*u_x": -2.0}], fit_coefficients=False)
    assert validation.wins and validation.margin > 1000 and validation.equations[0].coef == tuple(burgers["u"].coef)


def test_the_same_terms_compete_once(burgers):
    validation = validate(burgers, competitors=[{"u_xx": 0.3, "u*u_x": -2.0}, burgers["u"]])
    assert len(validation.scores) == 1 and validation.wins and "fit_coefficients=False" in repr(validation)


def scaled(field, x=1.0, t=1.0, **unknowns):
    "The same field in other units."
    values = {name: factor*field[name] for name, factor in unknowns.items()}
    return field.assign(values).assign_coords(x=x*field.x, t=t*field.t)


@pytest.mark.parametrize(
    "units", [dict(x=1e-6), dict(x=1e6), dict(t=1e6), dict(u=1e-6), dict(x=1e3, t=1e-3, u=1e6)], ids=str,
)
def test_units_do_not_matter(burgers, units):
    one, other = validate(burgers), validate(ubic.discover(scaled(burgers.field, **units)))
    np.testing.assert_allclose(one.scores["behind"], other.scores["behind"], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(one.scores["left / noise"], other.scores["left / noise"], rtol=1e-5)


@pytest.fixture(scope="module")
def pair():
    x = np.arange(64)*2*np.pi/64
    start = xr.Dataset({"u": ("x", np.exp(np.cos(x) - 1)), "v": ("x", 0.5*np.sin(x) + 0.2*np.cos(2*x))}, {"x": x})
    return ubic.add_noise(
        ubic.simulate({"u": {"u_xx": 0.05, "v": 1.0}, "v": {"v_xx": 0.1, "u": -1.0}}, start, np.linspace(0, 4, 61)), 5,
        seed=0,
    )


@pytest.mark.parametrize("factor", [1, 1000])
def test_in_a_system_every_unknown_counts(pair, factor):
    validation = validate(ubic.discover(scaled(pair, v=factor), terms=["u", "v", "u^2", "u_x", "v_x", "u_xx", "v_xx"]))
    found = {str(term): c for equation in validation.equations for term, c in zip(equation.terms, equation.coef)}
    assert validation.wins and validation.reproduces and validation.scores["behind"].iloc[1:].min() > 4
    assert found == pytest.approx({"v": 1/factor, "u_xx": 0.05, "u": -factor, "v_xx": 0.1}, rel=0.2)


def heat(noise, ends=64):
    x, t = np.linspace(0, np.pi, ends), np.linspace(0, 6, 60)
    u = sum(a*np.sin(k*x)[:, None]*np.exp(-0.1*k*k*t) for k, a in ((1, 1), (2, .7), (3, .5), (4, .3)))
    return ubic.add_noise(ubic.as_field(u, x=x, t=t), noise, seed=0)


@pytest.mark.parametrize("noise", [1, 10])
def test_a_field_that_ends_is_not_closed_into_a_circle(noise):
    validation = validate(ubic.discover(heat(noise)))
    assert validation.wins
    assert validation.reproduces
    assert validation.equations[0].coef[0] == pytest.approx(0.1, rel=0.1)
    assert "along x: a strip" in repr(validation)
    assert not validate(ubic.discover(heat(noise)), periodic=True).reproduces


def test_a_repeated_end_point_does_not_mislead():
    x, t = np.linspace(0, 2*np.pi, 65), np.linspace(0, 4, 60)
    field = ubic.add_noise(ubic.as_field(sum(np.sin(k*(x[:, None] - t) + k)/k for k in (1, 2, 3)), x=x, t=t), 5, seed=0)
    validation = validate(ubic.discover(field))
    assert validation.reproduces and validation.equations[0].coef[0] == pytest.approx(-1, abs=0.015)


def test_second_order_in_time_and_float32():
    x, t = np.arange(96)*20/96, np.linspace(0, 6, 90)
    standing = sum(np.cos(k*2*np.pi*x/20 + k)[:, None]*np.cos(1.5*k*2*np.pi/20*t + 2*k)/k for k in range(1, 5))
    field = ubic.add_noise(ubic.as_field(standing, x=x, t=t), 10, seed=0)
    one, other = (validate(ubic.discover(ds, time_order=2)) for ds in (field, field.astype("float32")))
    assert one.wins
    assert one.reproduces
    assert one.equations[0].target == "u_tt"
    assert other.scores["BIC"].to_numpy() == pytest.approx(one.scores["BIC"].to_numpy(), rel=1e-3)


def test_clean_data_are_reproduced():
    validation = validate(ubic.discover(ubic.datasets.burgers().isel(x=slice(None, None, 2))))
    assert validation.wins and validation.reproduces and "no noise to be seen in u" in repr(validation)


@pytest.mark.parametrize("noise", [5, 50])
def test_in_the_plane(noise):
    x, y, t = np.arange(32)/4, np.arange(24)/4, np.linspace(0, 2, 41)
    drop = xr.Dataset({"u": (("x", "y"), np.exp(-((x[:, None] - 4)**2 + (y - 3)**2)))}, {"x": x, "y": y})
    field = ubic.add_noise(ubic.simulate({"u_xx": 0.2, "u_yy": 0.2, "u_x": -0.5}, drop, t), noise, seed=0)
    validation = validate(ubic.discover(field), competitors=[{"u_xx": 0.2, "u_yy": 0.2}])
    assert validation.wins and validation.reproduces and validation.margin > 100
    assert len(validation.plot()) == 4


def test_starts_that_are_too_many_are_not_fitted_for_anyone(burgers, monkeypatch):
    monkeypatch.setattr("ubic.trial.validation.MOST_WAVES", 3)
    validation = validate(burgers)
    assert "too many to fit" in repr(validation)
    assert validation.equations[0].std == ()
    assert validation.scores["BIC"].notna().all()


def test_a_discovery_is_kept_when_it_cannot_be_run(pair):
    with pytest.warns(ubic.UbicWarning, match="not validated: .* no equation for v"):
        found = ubic.discover(pair, "u", terms=["v", "u_x", "u_xx"], validate="simulate")
    assert found.validation is None and "u" in found


def test_lost_competitor_of_the_networks_is_scored(burgers, monkeypatch):
    pytest.importorskip("torch")
    from ubic import networks
    real = networks.pinn
    def lose_one(pde, *arguments, **settings):
        if len(next(iter(pde.values()))) == 1: raise networks.LossLost("", "lost")
        return real(pde, *arguments, **settings)
    lose_one.__signature__ = __import__("inspect").signature(real)
    monkeypatch.setattr(networks, "pinn", lose_one)
    thin = burgers.field.isel(x=slice(None, None, 8), t=slice(None, None, 4))
    validation = validate(burgers, thin, with_="pinn", epochs=1, iterations=5, layers=(3,), competitors=[{"u_xx": 0.1}])
    assert np.isinf(validation.scores["BIC"].iloc[1]) and "was lost in training" in repr(validation)


def test_same_result_again(burgers):
    one, two = (validate(burgers, competitors=[]) for _ in range(2))
    assert one.scores.equals(two.scores) and one.margin == np.inf


@pytest.mark.parametrize("wrong, message", [
    (dict(periodic="yes"), "`periodic` is 'yes'"), (dict(fit_coefficients="no"), "`fit_coefficients` is 'no'"),
    (dict(competitors=[["u_xxxxxxx"]]), "`competitors`, number 1, has 'u_xxxxxxx'"),
    (dict(with_="dice"), "`with_` must be"), (dict(windows=0), "`windows` is 0"), (dict(windows=90), "`windows` is 90"),
    (dict(layers=3), "`layers` is a setting"),
    (dict(competitors={"u_xx": 1.0}), "must be a list"), (dict(competitors=3), "must be a list"),
    (dict(competitors="u_x"), r"must be a list of PDEs, found 'u_x'; write \[\[...\]\] around it"),
    (dict(competitors=[3]), "number 1, must be a mapping"),
    (dict(competitors=[{"u_yy": 1.0}]), "no axis y"), (dict(competitors=[{"u_xx": 1.0, "u_t": 1.0}]), "no axis t"),
    (dict(competitors=[{"u": {}}]), "no terms for u_t"),
    (dict(competitors=[{"u_xx": np.nan}]), "coefficient nan"), (dict(competitors=[{"u_xx": "a"}]), "coefficient 'a'"),
    (dict(competitors=[{"u*u_x": 1.0, "u_x*u": 1.0}]), "more than once"),
    (dict(competitors=[{"v": {"v_xx": 1.0}}]), "no equation for u"), (dict(with_="pinn", foo=1), "`foo` is no setting"),
    (dict(with_="pinn", windows=3), "`windows` is about simulations"),
    (dict(with_="pinn", checkpoint=3), "`checkpoint` is 3"),
], ids=str)
def test_odd_arguments(burgers, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message): validate(burgers, **wrong)


def test_odd_data(burgers):
    with pytest.raises(ValueError, match="`field` has w, but the PDE is about u"):
        validate(burgers, burgers.field.rename(u="w"))
    with pytest.raises(ValueError, match="`field` has 6 points along x"):
        validate(burgers, burgers.field.isel(x=slice(6)))
    with pytest.raises(TypeError, match="`field` is a DataArray"): validate(burgers, burgers.field.u)


def test_a_selection_needs_data(burgers):
    with pytest.raises(ValueError, match="`field` is missing"): validate(burgers["u"])
    with pytest.raises(TypeError, match="`found` must be"): validate("u_xx")
