"""The whole road: published numbers from raw data, defaults over seeds, command line, report."""
import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
import xarray as xr

import ubic
from ubic import recipes
from ubic.cli import main
from ubic.field import UbicWarning
from ubic.report import to_html, write_report

slow = pytest.mark.slow
published = [
    ("burgers", True), ("burgers", False), ("kdv", True), ("kdv", False),
    pytest.param("ks", True, marks=slow), ("ks", False),
]


@pytest.mark.parametrize("name, denoising", published)
def test_published_numbers_from_raw_data(name, denoising):
    table = recipes.compare(name, denoising)
    assert {"size", "%CE", "R_BIC"} <= set(table.index)
    assert (table["relative difference"] < 1e-4).all(), table


@pytest.mark.parametrize("name, denoising", [("burgers", False), ("kdv", True), ("kdv", False), ("ks", False)])
def test_published_curves_from_raw_data(name, denoising):
    curves = recipes.compare_curves(recipes.reproduce(name, denoising), name, denoising)
    for quantity in {column.split(",")[0] for column in curves}:
        np.testing.assert_allclose(curves[f"{quantity}, ours"], curves[f"{quantity}, paper"], rtol=2e-6)


def successes(name, noise, seeds):
    clean = getattr(ubic.datasets, name)()
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        return np.array([ubic.discover(ubic.add_noise(clean, noise, seed=seed)).errors()["u"].mean() for seed in seeds])


@pytest.mark.parametrize("name", ["burgers", "kdv", "ks"])
def test_defaults_on_fresh_seeds(name):
    assert np.isfinite(successes(name, 30, [101, 102])).all()


@slow
@pytest.mark.parametrize("noise", [10, 30, 100])
@pytest.mark.parametrize("name, limit", [("burgers", 0.8), ("kdv", 0.35), ("ks", 0.8)])
def test_defaults_ten_seeds(name, limit, noise): # seeds that nothing was tuned on
    errors = successes(name, noise, range(6000, 6010))
    assert np.isfinite(errors).all()
    if noise == 30: assert errors.mean() <= limit


@pytest.mark.parametrize("name", ["burgers", "kdv", "ks"])
def test_clean_data_need_no_extra_terms(name):
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        assert ubic.discover(getattr(ubic.datasets, name)()).errors()["u"].mean() < 0.02


def soliton():
    x, t, c = np.linspace(-30, 30, 256), np.linspace(0, 20, 120), 0.8
    return ubic.as_field(3*c/np.cosh(np.sqrt(c)/2*(x[:, None] - c*(t - 10)))**2, x=x, t=t)


def mode(u):
    x, t = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    return ubic.as_field(u(x[:, None], t), x=x, t=t)


single = {
    "soliton": (soliton(), r"Ambiguous.*u_xxx, u\*u_x"),
    "travelling": (mode(lambda x, t: np.sin(x - t)), "Ambiguous.*u_xxx"),
    "decaying": (mode(lambda x, t: np.exp(-t)*np.sin(x)), "Ambiguous"),
}


@pytest.mark.parametrize("percent", [0, 2, 30])
@pytest.mark.parametrize("name", single)
def test_a_single_wave_is_called_ambiguous(name, percent):
    field, words = single[name]
    if percent: field = ubic.add_noise(field, percent, seed=0)
    with pytest.warns(UbicWarning, match=words): found = ubic.discover(field)
    assert found["u"].verdict == "ambiguous" and str(found).count("mbiguous") == 1 # and once more in the warning


@pytest.mark.parametrize("noise", [0, 5])
def test_warnings_come_once_and_in_the_name_of_the_caller(noise):
    u = np.repeat(np.exp(-0.3*np.linspace(0, 4, 81))[None], 128, 0)
    if noise: u = u + 0.01*np.random.default_rng(0).standard_normal(u.shape)
    field = xr.Dataset({"u": (("x", "t"), u)}, {"x": np.linspace(0, 5, 128), "t": np.linspace(0, 4, 81)})
    with warnings.catch_warnings(record=True, action="always") as caught: ubic.discover(field)
    messages = [str(w.message) for w in caught]
    assert len(messages) == len(set(messages)) and all(w.filename == __file__ for w in caught)
    if not noise: assert any("does not vary along x" in message for message in messages)


def test_a_recipe_says_ambiguous_too():
    with pytest.warns(UbicWarning, match="Ambiguous"): ubic.discover(soliton(), recipe="kdv")


def test_command_line_broken_file(tmp_path, capsys):
    (tmp_path/"short.npz").write_bytes(b"PK")
    assert main(["discover", str(tmp_path/"short.npz")]) == 2 and "cannot be read" in capsys.readouterr().err


def test_a_jump_keeps_coefficients_in_reason():
    x, t = np.arange(128)/128*20, np.linspace(0, 6, 120)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        found = ubic.discover(ubic.as_field(np.where(x[:, None] - t > 8, 1.0, 0.0), x=x, t=t))["u"]
    assert np.abs(found.coef).max() < 1e3 and np.allclose(found.coef, found.path.coef[found.k])


def test_wide_library_is_searched_as_far_as_reasonable():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 44))
    system = ubic.LinearSystem(X, X[:, 3] - X[:, 7] + 0.1*rng.standard_normal(500))
    with pytest.warns(UbicWarning, match="44 candidates"): path = ubic.best_subsets(system)
    assert path.exact and path.supports[1] == (3, 7)


def test_steady_unknown_beside_a_moving_one():
    x, t = np.arange(64)/64*2*np.pi, np.linspace(0, 1, 40)
    u = np.sin(x[:, None] - t) + 0.3*np.cos(2*x[:, None] - 4*t)
    field = ubic.as_field({"u": u, "v": np.repeat(np.cos(x)[:, None], 40, 1)}, x=x, t=t)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        with pytest.raises(ValueError, match="nothing to identify"):
            ubic.discover(field, target="v", derivative_order=1, power=1)


def test_denoising_by_default_ksvd_keeps_the_answer():
    noisy = ubic.add_noise(ubic.datasets.burgers(), 30, seed=7)
    assert np.isfinite(ubic.discover(noisy, denoise="ksvd").errors()["u"].mean())


def test_same_seed_same_result():
    first, second = (ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=5))["u"] for _ in range(2))
    assert first.support == second.support
    assert np.array_equal(first.coef, second.coef) and np.array_equal(first.ubic, second.ubic)


def test_two_unknowns_each_get_an_equation():
    x, t = np.linspace(0, 20, 200, endpoint=False), np.linspace(0, 4, 80)
    rng = np.random.default_rng(3)
    def wave(k, c): return rng.normal()*np.cos(2*np.pi*k*(x[:, None] - c*t)/20 + rng.uniform(0, 6))
    waves = [sum(wave(k, c) for k in range(1, 6)) for c in (1.0, -0.5)]
    field = ubic.add_noise(ubic.as_field({"u": waves[0], "v": waves[1]}, x=x, t=t), 5, seed=0)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        found = ubic.discover(field, derivative_order=1, power=1)
    assert found.pde()["u"].keys() == {"u_x"} and found.pde()["v"].keys() == {"v_x"}
    assert np.isclose(found.pde()["u"]["u_x"], -1, rtol=0.02) and np.isclose(found.pde()["v"]["v_x"], 0.5, rtol=0.02)


def test_two_space_axes():
    rng, x = np.random.default_rng(0), np.arange(32)*10/32
    def wave(a, b): return rng.normal()*np.cos(2*np.pi*(a*x[:, None] + b*x)/10 + rng.uniform(0, 6))
    u = sum(wave(a, b) for a in range(3) for b in range(3))
    start = xr.Dataset({"u": (("x", "y"), u)}, {"x": x, "y": x})
    pde = {"u_x": -1.0, "u_xx": 0.1, "u_yy": 0.1}
    field = ubic.add_noise(ubic.simulate({"u": pde}, start, np.linspace(0, 2, 41)), 2, seed=0)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        found = ubic.discover(field, derivative_order=2, max_size=5).pde()["u"]
    assert found.keys() == pde.keys() and all(np.isclose(found[term], pde[term], rtol=0.05) for term in pde)


def test_recipe_on_ones_own_field():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=2), recipe="burgers")
    assert set(found.pde()["u"]) == {"u_xx", "u*u_x"} and found["u"].evidence.mode == "paper"


def test_result_shows_itself():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0))
    page = found._repr_html_()
    assert "u_{xx}" in page and "<table" in page and page.count("<img") == page.count("<figcaption>") == 1
    assert str(found).startswith("u_t = ")
    assert found.plot()[-1].get_xlabel().startswith("support size")


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


def run(*arguments):
    program = "import sys; from ubic.cli import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=300)


def test_command_line_discovers_and_writes(tmp_path):
    figure, page = tmp_path/"a"/"burgers.png", tmp_path/"burgers.html"
    done = run("discover", "burgers", "--noise", "30", "--seed", "0", "--figure", str(figure), "--report", str(page))
    assert done.returncode == 0 and "u_xx" in done.stdout and "±" in done.stdout
    assert figure.stat().st_size > 10_000 and page.read_text().startswith("<!doctype html>")


def test_command_line_json_and_files(tmp_path, capsys):
    assert main(["data", "burgers", "--out", str(tmp_path/"mine.npz")]) == 0
    capsys.readouterr()
    assert main(["discover", str(tmp_path/"mine.npz"), "--noise", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["u"]["terms"] == ["u_xx", "u*u_x"]


@pytest.mark.parametrize("arguments", [
    ["discover", "nowhere.nc"], ["data", "heat"], ["discover", "burgers", "--target", "v"],
    ["discover", "burgers", "--report", "x.txt"], ["discover", "burgers", "--recipe", "heat"],
])
def test_command_line_mistakes_end_in_a_sentence(arguments, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("ubic: ") and error.endswith(".")


def test_command_line_help():
    assert "discover" in run("--help").stdout and run().returncode == 2


def test_report_is_self_contained(tmp_path):
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0), denoise="ksvd")
    page = to_html(found, "A <title>")
    assert "http" not in page and "<script" not in page
    assert "A &lt;title&gt;" in page and "as used" not in page.split("<img")[0]
    assert write_report(found, tmp_path/"page.html").read_text() != ""


def test_interrupted_report_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path/"page.html"
    path.write_text("old")
    monkeypatch.setattr("ubic.telling.report.to_html", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt): write_report(None, path)
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["page.html"]
