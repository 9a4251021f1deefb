"""Repeated discoveries, scans of the threshold and held-out rows.

The same whatever the number of workers, odd inputs answered, published counts.
"""
import json

import numpy as np
import pytest
import xarray as xr
from sklearn.model_selection import GroupShuffleSplit, KFold, LeaveOneGroupOut, RepeatedKFold, ShuffleSplit

import ubic
from ubic.field import UbicWarning
from ubic.repeats import (
    Sensitivity, Stability, half_sample, row_label, scaled_half_width, sensitivity, stability, with_noise,
)
from ubic.splits import cross_validate, weak_in_blocks
from ubic.system import LinearSystem, from_triangle
from ubic.terms import candidates


def toy(third=0.17, rows=200):
    X = np.random.default_rng(0).standard_normal((rows, 5))
    return ubic.LinearSystem(
        X, 2*X[:, 0] - X[:, 1] + third*X[:, 2] + 0.5*np.random.default_rng(1).standard_normal(rows),
    )


@pytest.fixture(scope="module")
def waves():
    x = np.linspace(0, 2*np.pi, 64, endpoint=False)
    field = ubic.simulate(
        {"u": {"u_x": -1.0, "u_xx": 0.1}},
        xr.Dataset({"u": ("x", np.sin(x) + 0.7*np.cos(2*x) + 0.5*np.sin(3*x + 1))}, {"x": x}), np.linspace(0, 4, 80),
    )
    return field.assign_attrs(pde=json.dumps({"u": {"u_x": -1.0, "u_xx": 0.1}}))


@pytest.fixture(scope="module")
def noisy(waves): return ubic.add_noise(waves, 5, seed=0)


@pytest.fixture(scope="module")
def published(reference):
    def system(name, order):
        file = np.load(reference/f"{name}_weak_system_authors.npz")
        return ubic.LinearSystem(file["X"], file["y"], candidates(["u"], "x", 2, derivative_order=order))
    return {"burgers": system("burgers", 2), "kdv": system("kdv", 4)}


# --- the same answer however it is computed -------------------------------------------------------

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


# --- what is repeated -----------------------------------------------------------------------------

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


# --- bad input ------------------------------------------------------------------------------------

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


# --- scans of the threshold -----------------------------------------------------------------------

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


# --- held-out rows --------------------------------------------------------------------------------

def by_hand(X, y, train, test, support):
    coef = np.linalg.lstsq(X[train][:, support], y[train], rcond=None)[0]
    rss, n = np.sum((y[test] - X[test][:, support] @ coef)**2), len(test)
    return n*(1 + np.log(2*np.pi*rss/n)) + len(support)*np.log(n)


def test_scores_are_those_computed_by_hand():
    system = toy()
    train, test = np.arange(0, 200, 2), np.arange(1, 200, 2)
    found = cross_validate(system, [(train, test)])
    path = ubic.best_subsets(ubic.LinearSystem(system.X[train], system.y[train]))
    for k, support in enumerate(path.supports):
        assert found.validation[0, k] == pytest.approx(by_hand(system.X, system.y, train, test, list(support)))
        assert found.train[0, k] == pytest.approx(by_hand(system.X, system.y, train, train, list(support)))


def test_splitters_of_scikit_learn():
    system, groups = toy(), np.arange(200)//20
    for splits, count in ((KFold(4), 4), (ShuffleSplit(3, random_state=0), 3), (LeaveOneGroupOut(), 10), (None, 1)):
        found = cross_validate(system, splits, groups=groups if isinstance(splits, LeaveOneGroupOut) else None)
        assert len(found.train) == count and found.table()["splits"].sum() == count and "size" in repr(found)
    assert found.plot() is not None


def test_published_sizes(published):
    splits = {
        "single": None, "RepeatedKFold": RepeatedKFold(n_splits=2, n_repeats=5, random_state=0),
        "ShuffleSplit": ShuffleSplit(10, test_size=0.5, random_state=0),
    }
    found = {
        (name, kind): cross_validate(system, split)
        for name, system in published.items() for kind, split in splits.items()
    }
    for key, one in found.items():
        assert (one.train_size, one.size) == tuple(ubic.recipes.published_splits.loc[key])
    for key, curve in ubic.recipes.published_split_curves.items():
        assert np.allclose(found[key].validation.mean(axis=0)[:len(curve)], curve, atol=0.02)


def test_a_term_that_is_zero_on_the_training_rows():
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[:50, 2] = 0
    with pytest.warns(UbicWarning, match="vanish"):
        found = cross_validate(ubic.LinearSystem(X, X[:, 0] + 0.1*np.random.default_rng(1).standard_normal(100)))
    assert found.sizes.tolist() == [1, 2] and np.isfinite(found.validation).all() and found.size == 1


def test_copies_deceive_random_halves():
    X, source = np.random.default_rng(0).standard_normal((60, 6)), np.repeat(np.arange(60), 5)
    y = X[:, 0] - 0.5*X[:, 1] + 0.3*np.random.default_rng(1).standard_normal(60)
    copies = ubic.LinearSystem(X[source] + 0.01*np.random.default_rng(2).standard_normal((300, 6)), y[source])
    assert cross_validate(copies, GroupShuffleSplit(10, test_size=0.5, random_state=0), groups=source).size == 2
    assert cross_validate(copies, ShuffleSplit(10, test_size=0.5, random_state=0)).size > 2


@pytest.mark.parametrize("wrong, message", [
    (dict(splits=3), "`splits` must be a splitter"), (dict(splits=[]), "`splits` is empty"),
    (dict(splits=[(np.arange(30),)]), "pairs"),
    (dict(splits=[(np.arange(40), np.arange(30, 60))]), "10 rows for training and validation"),
    (dict(splits=[(np.arange(30), np.arange(30, 201))]), "outside 0 to 199"),
    (dict(splits=[(np.arange(5), np.arange(5, 60))]), "more rows than candidates"),
    (dict(splits=[(np.arange(30), [])]), "not empty"),
    (dict(splits=[(np.arange(30.0), np.arange(30, 60))]), "row numbers"),
    (dict(groups=[1, 2]), r"`groups` has shape \(2,\)"), (dict(groups=3), "`groups` has shape"),
    (dict(splits="kfold"), "found 'kfold'"), (dict(splits=[([[1, 2], [3]], [4])]), "several lengths"),
    (dict(max_size=9), "`max_size`"), (dict(solver="simplex"), "`solver`"),
])
def test_odd_splits(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message): cross_validate(toy(), **wrong)


# --- blocks ---------------------------------------------------------------------------------------

def test_rows_of_a_block_know_nothing_of_other_blocks(noisy):
    changed = noisy.copy(deep=True)
    changed.u[:, 40:] += 1.0
    (one, block), (two, _) = (
        weak_in_blocks(field, {"t": 2}, half_width={"x": 0.9, "t": 0.4}) for field in (noisy, changed)
    )
    assert np.array_equal(np.unique(block), [0, 1]) and len(block) == one.n
    assert np.array_equal(one.X[block == 0], two.X[block == 0])
    assert not np.allclose(one.X[block == 1], two.X[block == 1])


def test_a_perfect_fit_has_a_finite_score():
    X = np.random.default_rng(0).standard_normal((50, 3))
    assert np.isfinite(cross_validate(LinearSystem(X, X[:, 0])).table()).all(axis=None)


def test_blocks_at_rest_are_left_out(noisy):
    with pytest.warns(ubic.UbicWarning, match="in 1 of 2 blocks the field is constant"):
        system, block = weak_in_blocks(noisy.where(noisy.t < noisy.t[len(noisy.t)//2], 1.0), {"t": 2})
    assert set(block) == {0} and len(block) == system.n


def test_blocks_repeat(noisy):
    one, two, three = (weak_in_blocks(noisy, 2, rows=50, seed=seed)[0] for seed in (0, 0, 1))
    assert one.n == 200 and np.array_equal(one.X, two.X) and not np.array_equal(one.X, three.X)


@pytest.mark.parametrize("wrong, message", [
    (dict(blocks=1), "one piece"), (dict(blocks={"y": 2}), "no axis 'y'"), (dict(blocks=200), "`blocks` is 200"),
    (dict(blocks=2.5), "`blocks` is 2.5"), (dict(blocks=8), "give fewer blocks"),
    (dict(blocks=2, target="v"), "`target`"),
    (dict(blocks=2, half_width=20.0), "`half_width`"), (dict(blocks=2, target=["u"]), "name one unknown"),
    (dict(blocks=2, derivative_order=None), "`derivative_order`"), (dict(blocks=2, seed=-1), "`seed`"),
])
def test_odd_blocks(noisy, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message): weak_in_blocks(noisy, **wrong)
