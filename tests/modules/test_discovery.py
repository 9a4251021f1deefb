"""Settings of a discovery: they stay with the result, go into its file, and are used by whoever goes on with it.

Also the noise that it tells.
"""
import functools
import json
import warnings
from dataclasses import fields, replace
from inspect import signature

import numpy as np
import pytest

import ubic
from ubic.cli import main
from ubic.denoise import noise_level
from ubic.field import as_field
from ubic.ground.checks import UbicWarning
from ubic.ground.storage import RESULT_MEMBER
from ubic.pipeline import Discovery
from ubic.report import to_html
from ubic.trial.discovery import Settings

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")

WIDTHS = {"x": 1.2, "t": 0.8}


@pytest.fixture(scope="module")
def noisy():
    return ubic.add_noise(ubic.datasets.burgers(), 30, seed=0)


@pytest.fixture(scope="module")
def narrow(noisy):
    return ubic.discover(noisy, derivative_order=2, half_width=WIDTHS, order=6)


@pytest.fixture(scope="module")
def carried():
    "A field u that a known field v carries along: u_t = -v u_x."
    x, t = np.arange(96)*2*np.pi/96, np.linspace(0, 2, 60)
    u = sum(np.cos(k*(x[:, None] - t) + k)/k for k in range(1, 5))
    return ubic.add_noise(ubic.as_field({"u": u, "v": 1 + 0*u + 0.1*np.cos(x)[:, None]}, x=x, t=t), 2, seed=0)


def test_settings_have_the_names_and_defaults_of_discover():
    asked = {one.name: one.default for one in fields(Settings) if one.name != "settled"}
    parameters = signature(ubic.discover).parameters
    usual = {name: one.default for name, one in parameters.items() if name not in ("field", "validate")}
    assert asked == usual


def test_a_discovery_keeps_its_settings(narrow):
    settings = narrow.settings
    assert settings.asked() == {"derivative_order": 2, "half_width": WIDTHS, "order": 6}
    settled = settings.settled["u"]
    assert settled.time_order == 1 and settled.derivative_order == 2
    assert settled.box["x"][1] == settled.box["t"][1] == 6


def test_settings_left_out_are_settled_all_the_same(noisy):
    settings = ubic.discover(noisy).settings
    assert settings == replace(Settings(), settled=settings.settled) and settings.asked() == {}
    assert settings.settled["u"].derivative_order == 2 and set(settings.settled["u"].box) == {"x", "t"}


def test_settings_survive_a_file(narrow, tmp_path):
    again = ubic.load_result(narrow.save(tmp_path/"found.npz"))
    assert again.settings == narrow.settings and again.settings.half_width == WIDTHS


@pytest.mark.parametrize("denoise", [lambda field: field, "ksvd"])
def test_functions_leave_their_names_in_a_file(noisy, denoise, tmp_path):
    small = noisy.isel(x=slice(40, 120), t=slice(0, 60))
    found = ubic.discover(small, derivative_order=1, denoise=denoise, seed=np.random.default_rng(0))
    again = ubic.load_result(found.save(tmp_path/"found.npz"))
    assert isinstance(again.settings.denoise, str) and again.settings.seed == "Generator"
    assert found.settings.denoise is denoise


def test_files_without_settings_can_be_read(narrow, tmp_path):
    "As the first version wrote them."
    with np.load(narrow.save(tmp_path/"new.npz")) as file: arrays = dict(file)
    told = json.loads(str(arrays[RESULT_MEMBER]))
    parts = next(inside for name, inside in told["parts"] if name == "Discovery")
    del parts["settings"]
    np.savez(tmp_path/"old.npz", **arrays | {RESULT_MEMBER: np.array(json.dumps(told))})
    old = ubic.load_result(tmp_path/"old.npz")
    assert old.settings is None and repr(old) == repr(narrow)
    assert ubic.explore(old).maps is not None and "asked for" not in to_html(old)


def test_unknown_names_are_refused_by_python(noisy):
    with pytest.raises(TypeError, match="windwo"): ubic.discover(noisy, windwo=3)


def test_an_explorer_shows_the_boxes_that_were_asked_for(narrow):
    boxes = ubic.explore(narrow).maps.boxes
    assert boxes.box == narrow.settings.settled["u"].box


def test_an_explorer_knows_the_known_fields(carried):
    found = ubic.discover(carried, known="v", terms=["u_x", "v*u_x", "u^2"])
    assert found.settings.known == ("v",) and set(ubic.explore(found).maps.jets.noise) == {"u"}


def test_a_rival_is_fitted_on_the_boxes_that_were_asked_for(carried, monkeypatch):
    "A rival of the verdict with terms that the last library did not have needs a library of its own."
    found = ubic.discover(carried, known="v", derivative_order=1, half_width=WIDTHS)
    stranger = replace(found["u"], rivals=[[ubic.Term.parse("u_xx")]])
    asked, weak = [], ubic.library.weak

    def spy(*arguments, **settings):
        asked.append(settings)
        return weak(*arguments, **settings)

    monkeypatch.setattr("ubic.trial.competitors.weak", spy)
    doubtful = ubic.Discovery({"u": stranger}, found.field, found.used, settings=found.settings)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        try: ubic.validate(doubtful, windows=2, fit_coefficients=False)
        except ValueError: pass # v has no equation of its own; the rival was fitted before that was noticed
    assert asked and all(settings["half_width"] == WIDTHS and settings["known"] == ("v",) for settings in asked)


def test_a_report_tells_the_settings(narrow):
    page = to_html(narrow)
    assert "half_width = {&#x27;x&#x27;: 1.2, &#x27;t&#x27;: 0.8}" in page and "(order 6)" in page


def test_the_stability_of_a_discovery_is_that_of_its_settings(narrow, noisy, monkeypatch):
    asked, discover = [], ubic.discover

    @functools.wraps(discover)
    def spy(field, **settings):
        asked.append(settings)
        return discover(field, **settings)

    monkeypatch.setattr("ubic.road.repeats.discover", spy)
    runs = ubic.stability(narrow, seeds=0, tau0s=[], windows=[1.2], solvers=[], workers=1)
    assert len(runs.runs) == 2 and asked[0] == narrow.settings.asked()
    assert asked[1]["half_width"] == pytest.approx({"x": 1.2*1.2, "t": 1.2*0.8})


def test_a_width_along_one_axis_is_scaled_with_the_others(noisy, monkeypatch):
    asked, discover = [], ubic.discover

    @functools.wraps(discover)
    def spy(field, **settings):
        asked.append(settings)
        return discover(field, **settings)

    monkeypatch.setattr("ubic.road.repeats.discover", spy)
    how = {"seeds": 0, "tau0s": [], "windows": [1.2], "solvers": [], "workers": 1}
    ubic.stability(noisy, **how, derivative_order=2, half_width={"x": 1.2})
    assert asked[1]["half_width"]["x"] == pytest.approx(1.44) and set(asked[1]["half_width"]) == {"x", "t"}


def test_result_shows_itself():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0))
    page = found._repr_html_()
    assert "u_{xx}" in page and "<table" in page and page.count("<img") == page.count("<figcaption>") == 1
    assert str(found).startswith("u_t = ")
    assert found.plot()[-1].get_xlabel().startswith("support size")


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
