"Initial conditions in closed form: recovery, determinism, standard errors, bad input."
import sys
from importlib.util import find_spec

import numpy as np
import pytest
import xarray as xr

from ubic import initial
from ubic.initial import closed_form

needs_operon = pytest.mark.skipif(not find_spec("pyoperon"), reason="this needs ubic[symbolic]")


def line(function, n=128, length=10.0, noise=0.0, seed=0):
    x = length*np.arange(n)/n
    return xr.Dataset({"u": ("x", function(x) + noise*np.random.default_rng(seed).standard_normal(n))}, {"x": x})


def refined(text, frame):
    template, values = initial.name_constants(initial.read_formula(text, 1))
    return initial.refine(template, values, frame.x.values, frame.u.values)


def simplified(text, frame):
    return initial.simplify(refined(text, frame), frame.x.values, frame.u.values, 128)


@needs_operon
def test_a_noisy_sine_is_found_with_honest_errors():
    found = closed_form(line(lambda x: 3*np.sin(1.3*x), noise=0.3), restarts=1)
    assert str(found.template).count("sin") + str(found.template).count("cos") == 1
    assert found.misfit < 0.2 and found.n_eff > 60
    rate = found.constants[np.isclose(found.constants["value"].abs(), 1.3, rtol=0.05)].iloc[0]
    assert abs(abs(rate["value"]) - 1.3) < 4*rate["std"] and rate["std"] < 0.02


@needs_operon
def test_same_seed_same_answer():
    frame = line(lambda x: np.exp(-(x - 4)**2), noise=0.05)
    one, two = closed_form(frame, seed=5, restarts=1), closed_form(frame, seed=5, restarts=1)
    assert one.expression == two.expression and one.table().equals(two.table())


@needs_operon
def test_the_formula_is_a_function_a_frame_and_a_picture():
    import matplotlib
    matplotlib.use("Agg")
    frame = line(lambda x: 2*np.cos(x), noise=0.01).rename(u="h")
    found = closed_form(frame, restarts=1)
    assert np.allclose(found(frame.x), found.frame().h) and found.frame().x.equals(frame.x)
    assert found.frame(np.arange(9.0)).sizes == {"x": 9} and list(found.frame().data_vars) == ["h"]
    assert np.linalg.norm(found(frame.x) - frame.h)/np.linalg.norm(frame.h) == pytest.approx(found.misfit)
    assert found.table()["chosen"].sum() == 1 and found.table()["complexity"].is_monotonic_increasing
    assert found._repr_latex_().startswith("$h(x) = ") and repr(found).startswith("ClosedForm(h = ")
    assert found._repr_html_().startswith(f"<p>{found._repr_latex_()}</p>") and "<table" in found._repr_html_()
    assert len(found.plot()) == 2


@needs_operon
@pytest.mark.slow
@pytest.mark.parametrize("name, form, value", [
    ("burgers", "exp(-(a + x)**2)", 2), ("kdv", "-sin(a*x)", np.pi/20), ("ks", "(sin(a*x) + 1)*cos(a*x)", 1/16),
])
def test_the_initial_conditions_of_the_paper(name, form, value):
    from ubic import recipes
    found = closed_form(recipes.denoised(name).isel(t=0), seed=11)
    assert str(found.template) in (form, form.replace("-sin", "sin"))
    assert abs(found.constants["value"].iloc[0]) == pytest.approx(value, rel=0.02)


def test_constants_that_are_not_needed_go():
    frame = line(lambda x: np.sin(2*x), noise=0.1)
    simple = simplified("0.01 + 0.98*sin(2.05*x + 0.02)", frame)
    assert str(simple.template).startswith("sin(") and len(simple.values) == 1


def test_a_frequency_twice_another_becomes_a_product():
    frame = line(lambda x: np.cos(0.6*x)*(1 + np.sin(0.6*x)), noise=0.05)
    simple = simplified("0.01 + 0.9*cos(0.61*x) + 0.48*sin(1.21*x)", frame)
    assert len(simple.values) == 1 and str(simple.template).count("sin") == str(simple.template).count("cos") == 1


def test_constants_that_the_data_need_stay():
    frame = line(lambda x: 1.5*np.sin(2*x) + 0.7, noise=0.05)
    simple = simplified("0.6 + 1.4*sin(2.1*x)", frame)
    assert len(simple.values) == 3


def test_standard_errors_hold():
    "Over many noise draws the estimates scatter as the standard errors say."
    fits = [refined("1.1*sin(2.05*x)", line(lambda x: np.sin(2*x), noise=0.2, seed=seed)) for seed in range(200)]
    values = np.array([list(fit.values.values()) for fit in fits])
    told = np.mean([np.sqrt(np.diag(fit.covariance)*fit.squares/126) for fit in fits], axis=0)
    assert np.allclose(values.std(axis=0)/told, 1, atol=0.2)


def test_smoothed_noise_counts_for_fewer_points():
    noise = np.random.default_rng(0).standard_normal(2000)
    assert initial.independent_residuals(noise) > 1500
    assert initial.independent_residuals(np.convolve(noise, np.ones(20)/20, "valid")) < 200
    assert initial.independent_residuals(np.zeros(10)) == 10


@needs_operon
def test_neighbors_that_resemble_each_other_count_less():
    "Noise smoothed over 8 points: scores and standard errors count the independent residuals, not all 128."
    rough = np.random.default_rng(0).standard_normal(135)
    frame = line(lambda x: 0.7*x + 0.5*np.convolve(rough, np.ones(8)/8, "valid"))
    found = closed_form(frame, restarts=1)
    assert str(found.template) == "a*x" and found.n_eff < 64
    x, square = frame.x.values, float(np.mean((found(frame.x) - frame.u.values)**2))
    score = found.table().query("chosen")["BIC"].item()
    assert score == pytest.approx(found.n_eff*np.log(square) + np.log(found.n_eff))
    of_all = np.sqrt(128*square/127/np.sum(x**2)) # the standard error of a slope, from 128 independent residuals
    assert found.constants["std"].item() == pytest.approx(of_all*np.sqrt(128/found.n_eff), rel=1e-4)


@pytest.mark.parametrize("text", ["1.0", "exp(800.5)*x*exp(1e9)", "x/0"])
def test_formulas_that_are_no_functions_are_left_out(text):
    assert initial.read_formula(text, 1) is None


def test_squares_are_completed():
    template, values = initial.name_constants(initial.read_formula("2.0*exp((1.1*x + 1.9)*(-0.9*x - 2.1))", 1))
    assert len(values) == 3 # amplitude, width and center; a constant in the exponent joins the amplitude
    assert "**2" in str(template)


@pytest.mark.parametrize("bad, message", [
    (lambda frame: frame.u, "`initial` is a DataArray"),
    (lambda frame: frame.expand_dims(t=2), "frames; choose one"),
    (lambda frame: frame.expand_dims(y=np.arange(8.0)), "over x alone"),
    (lambda frame: frame.assign(v=frame.u), "choose one"),
    (lambda frame: frame.where(frame.x > 1), "not finite"),
    (lambda frame: 0*frame + 2, "constant"),
    (lambda frame: frame.isel(x=slice(5)), "at least 8"),
])
def test_bad_frames_are_refused(bad, message):
    with pytest.raises((ValueError, TypeError), match=message): closed_form(bad(line(np.sin)))


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="`engine`"): closed_form(line(np.sin), engine="guess")
    with pytest.raises(ValueError, match="`restarts`"): closed_form(line(np.sin), restarts=0)
    with pytest.raises(ValueError, match="`seed`"): closed_form(line(np.sin), seed=-1)


@pytest.mark.parametrize("engine, package, extra", [("operon", "pyoperon", "symbolic"), ("pysr", "pysr", "pysr")])
def test_a_missing_engine_is_named(monkeypatch, engine, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf'ubic\[{extra}\]'): closed_form(line(np.sin), engine=engine)
