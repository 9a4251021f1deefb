"""Repeated discoveries and scans of the threshold.

The same whatever the number of workers, odd inputs answered, published counts.
"""
import numpy as np
import pytest
import xarray as xr

import ubic
from repeated import noisy, published, toy, waves
from ubic.repeats import (
    Sensitivity, Stability, half_sample, row_label, scaled_half_width, sensitivity, stability, with_noise,
)
from ubic.splits import cross_validate
from ubic.system import from_triangle


# --- the same answer however it is computed ---------------------------------------------------------------------------

def test_workers_do_not_matter(noisy):
    settings = dict(seeds=3, windows=[1.2], tau0s=[0.01], solvers=["greedy"])
    one, two = (stability(noisy, **settings, workers=workers) for workers in (1, 2))
    assert one.runs.equals(two.runs) and one.table().equals(two.table()) and one.share == two.share == 1


def test_workers_do_not_matter_for_systems():
    one, two = (stability(toy(), workers=workers) for workers in (1, 2))
    assert one.runs.equals(two.runs) and len(one.runs) == 17


def test_same_seeds_same_result_other_seeds_other_halves(noisy):
    assert stability(toy()).runs.equals(stability(toy()).runs)
    assert half_sample(noisy, 3).identical(half_sample(noisy, 3))
    assert not np.array_equal(half_sample(toy(), 0).y, half_sample(toy(), 1).y)
    listed = stability(toy(), seeds=[7, 8], tau0s=[], solvers=[])
    assert listed.runs["setting"].tolist() == ["as given", "seed 7", "seed 8"]
    every = stability(toy(), tau0s=[], solvers=[]).runs.set_index("setting")["PDE"]
    assert listed.runs["PDE"].tolist()[1:] == [every["seed 7"], every["seed 8"]]


def test_functions_that_cannot_be_pickled_reach_the_workers(noisy):
    found = stability(noisy, seeds=2, tau0s=[], windows=[], solvers=[], workers=2, denoise=lambda field: field)
    assert found.share == 1


def test_units_and_order_of_the_rows_do_not_matter():
    system, order = toy(), np.random.default_rng(5).permutation(200)
    scaled = ubic.LinearSystem(system.X*[1e-3, 1, 10, 1e4, 1], system.y*7, system.terms)
    shuffled = ubic.LinearSystem(system.X[order], system.y[order], system.terms)
    assert stability(scaled).runs.equals(stability(system).runs)
    assert stability(shuffled, seeds=0).runs.equals(stability(system, seeds=0).runs)


# --- what is repeated -------------------------------------------------------------------------------------------------

def test_default_cost_and_groups():
    runs = stability(toy()).runs
    assert runs["varied"].value_counts(sort=False).to_dict() == {"as given": 1, "half": 10, "τ₀": 4, "solver": 2}


def test_a_small_term_comes_and_goes():
    found = stability(toy())
    assert 0.3 < found.share < 1
    assert found.table()["count"].sum() == 17
    assert found.table()["share"].sum() == pytest.approx(1)
    assert found.truth == "" and "true" not in found.table()
    assert stability(toy(third=1.0)).share > 0.9


def test_halves_are_connected_windows_of_half_the_points(noisy):
    for seed in range(5):
        half = half_sample(noisy, seed)
        assert half.u.size/noisy.u.size == pytest.approx(0.5, abs=0.03)
        assert noisy.sel(x=half.x, t=half.t).u.equals(half.u) and np.allclose(np.diff(half.t), np.diff(noisy.t)[0])


def test_rows_of_half_a_system_are_distinct():
    system = ubic.LinearSystem(
        np.c_[np.arange(50.0), np.random.default_rng(0).random(50)], np.arange(50.0)**2, n_eff=20,
    )
    half = half_sample(system, 0)
    assert half.n == 25 and len(set(half.X[:, 0])) == 25 and half.n_eff == 20


def test_noise_levels_are_those_of_add_noise(waves):
    found = stability(waves, noise=[5, 10], seeds=2, tau0s=[0.01], windows=[], solvers=[])
    assert found.runs["setting"].tolist() == [
        "5 %, seed 0", "5 %, seed 1", "10 %, seed 0", "10 %, seed 1", "0.01 at 5 %", "0.01 at 10 %",
    ]
    assert found.truth == "u_t: u_x, u_xx" and found.share == 1


def test_as_much_noise_again_is_other_noise(noisy, waves):
    again = with_noise(noisy, "estimated", 0)
    assert float((again.u - waves.u).std()) == pytest.approx(2**0.5*float((noisy.u - waves.u).std()), rel=0.05)


def test_two_unknowns_are_counted_together():
    x = np.linspace(0, 2*np.pi, 64, endpoint=False)
    start = xr.Dataset({"u": ("x", np.sin(x) + 0.5*np.cos(2*x)), "v": ("x", np.cos(x) - 0.6*np.sin(3*x))}, {"x": x})
    field = ubic.add_noise(
        ubic.simulate({"u": {"u_xx": 0.1, "v": -1.0}, "v": {"v_xx": 0.05, "u": 1.0}}, start, np.linspace(0, 4, 80)), 1,
        seed=0,
    )
    found = stability(field, seeds=1, tau0s=[0.01], windows=[], solvers=[], power=1)
    assert list(found.terms[found.table().index[0]]) == ["u_t", "v_t"] and found.plot() is not None
    only = stability(field, seeds=0, tau0s=[0.01], windows=[], solvers=[], power=1, target="v")
    assert list(only.terms[only.table().index[0]]) == ["v_t"]


def test_a_plane_works():
    x = np.linspace(0, 2*np.pi, 32, endpoint=False)
    start = xr.Dataset(
        {"u": (("x", "y"), np.sin(x)[:, None]*np.cos(x) + 0.5*np.cos(2*x)[:, None] + 0.3*np.sin(x + 1))},
        {"x": x, "y": x},
    )
    field = ubic.add_noise(
        ubic.simulate({"u": {"u_x": -1.0, "u_xx": 0.1, "u_yy": 0.1}}, start, np.linspace(0, 2, 40)), 1, seed=0,
    )
    found = stability(field, seeds=1, tau0s=[], windows=[1.2], solvers=[], power=1)
    assert len(found.runs) == 3 and set(found.runs["PDE"].iloc[0].removeprefix("u_t: ").split(", ")) >= {"u_x"}


def test_a_setting_without_equation_is_counted_and_the_first_must_succeed(noisy):
    found = stability(noisy, seeds=0, tau0s=[], windows=[1.2, 9], solvers=[])
    assert found.table()["count"].tolist() == [2, 1]
    assert found.table().index[1].startswith("no equation: `half_width`")
    assert found.plot() is not None
    with pytest.raises(ValueError, match="half_width"): stability(noisy, seeds=0, half_width=100.0)


def test_a_given_width_is_what_windows_multiply(noisy):
    assert scaled_half_width(noisy, 2.0, 2, {"half_width": {"x": 1.0, "t": 0.3}}) == {"x": 2.0, "t": 0.6}
    assert scaled_half_width(noisy, 2.0, 2, {"form": "pysindy"})["t"] == pytest.approx(0.4)


def test_result_shows_itself():
    found = stability(toy())
    assert "of 17 runs" in repr(found)
    assert "<table" in found._repr_html_()
    assert len(found.plot().get_yticklabels()) == len(found.table())
    first = {"u_t": ("u_x", "u_xx")}
    assert row_label({"u_t": ("u_x", "u_xx", "u^2")}, first) == "+ $u^{2}$"
    assert row_label({"u_t": ("u_x",)}, first) == "− ${u}_{xx}$".replace("{u}", "u")


def test_the_reference_is_named_when_it_is_not_the_most_frequent():
    found = Stability(stability(toy()).runs.assign(PDE=["a", *["b"]*16]), {"a": {}, "b": {}})
    assert repr(found).endswith("with the settings as given: a")


# --- bad input --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("wrong, message", [
    (dict(seeds=-1), "`seeds` is -1"), (dict(seeds=[0.5]), "`seeds` is 0.5"), (dict(seeds=True), "`seeds`"),
    (dict(tau0s=["P120"]), "each of `tau0s`"), (dict(tau0s=[-1]), "each of `tau0s` must be positive"),
    (dict(tau0s=3j), "`tau0s` must be a list"),
    (dict(windows=[0]), "`windows` is 0"), (dict(windows=["wide"]), "`windows` is 'wide'"),
    (dict(solvers=["simplex"]), "each of `solvers` must be one of"), (dict(noise=[]), "`noise` is empty"),
    (dict(noise="much"), "`noise` must be"),
    (dict(noise=-5), "`noise` is -5"), (dict(noise=5, seeds=0), "`seeds` is empty"),
    (dict(workers=0), "`workers` is 0"), (dict(workers=1.5), "`workers` is 1.5"),
    (dict(recipe="kdv"), "`recipe` fixes"), (dict(colour="red"), "`colour`"),
])
def test_odd_arguments_get_one_sentence(noisy, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message) as caught: stability(noisy, **wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(noise=5), "`noise` is for fields"), (dict(windows=[2]), "`windows` is for fields"),
        (dict(colour="red"), "`colour`"), (dict(mode="best"), "`mode`"),
    ],
)
def test_odd_arguments_for_systems(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message): stability(toy(), **wrong)


def test_a_system_without_rows_has_no_halves():
    system = toy()
    reduced = from_triangle(system.R, system.n, system.terms)
    with pytest.raises(ValueError, match="seeds=0"): stability(reduced)
    assert len(stability(reduced, seeds=0).runs) == 7
    with pytest.raises(ValueError, match="not kept"): half_sample(reduced)
    with pytest.raises(ValueError, match="not kept"): cross_validate(reduced)


def test_no_field_at_all():
    with pytest.raises(TypeError, match="list"): stability([1, 2, 3])


# --- scans of the threshold -------------------------------------------------------------------------------------------

def test_published_rates(published):
    burgers = sensitivity(ubic.best_subsets(published["burgers"]), ["u_xx", "u*u_x"], mode="paper")
    assert burgers.rates.tolist() == [1, 1] and burgers.table()["thresholds"].tolist() == [100, 10]
    kdv = sensitivity(ubic.best_subsets(published["kdv"]), ["u_xxx", "u*u_x"], mode="paper")
    assert kdv.rates.tolist() == [0.9, 0.8] and kdv.table()["other sizes"].tolist() == ["5 (10 times)", "5 (2 times)"]
    failed = kdv.choices[~kdv.choices["success"]]["tau0"].tolist()
    assert failed == [round(0.001*h, 3) for h in range(1, 11)] + ["P55", "P60"]


def test_scan_ends_where_one_term_is_left():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4))
    path = ubic.best_subsets(ubic.LinearSystem(X, X[:, 0] + 0.35*X[:, 1] + 0.3*rng.standard_normal(400)))
    found = sensitivity(path, ["x0", "x1"])
    sizes = [ubic.select(path, tau0=round(1e-3*(1 + h), 3)).size for h in range(100)]
    expected = sizes.index(1) if 1 in sizes else 100
    assert found.table().loc["number", "thresholds"] == expected and (found.choices["size"] > 1).all()
    alone = sensitivity(path, ["x0"])
    assert alone.table().loc["number", "thresholds"] == 100


def test_truth_defaults_to_the_choice():
    path = ubic.best_subsets(toy())
    assert isinstance(sensitivity(path), Sensitivity)
    assert list(sensitivity(path).truth) == [str(term) for term in ubic.select(path).terms]
    assert len(sensitivity(path).plot()) == 2 and "<table" in sensitivity(path)._repr_html_()


@pytest.mark.parametrize(
    "wrong, message",
    [
        (dict(truth=["x9"]), "`truth`"), (dict(truth=[]), "`truth`"), (dict(tau0=0.1), "`tau0` is what is scanned"),
        (dict(mode="best"), "`mode`"),
    ],
)
def test_odd_scans(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message): sensitivity(ubic.best_subsets(toy()), **wrong)
