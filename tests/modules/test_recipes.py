"The recipes of the paper: followed on tiny fields, and the published numbers from raw data."
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import ubic
from libraries import white_noise
from ubic import datasets, recipes
from ubic.field import true_pde
from ubic.ground.checks import UbicWarning
from ubic.library import weak
from ubic.recipes import paper_terms
from ubic.terms import coefficient_error, parse_term

slow = pytest.mark.slow
systems = {"navier_stokes": "w", "reaction_diffusion": "uv", "gray_scott": "uv"}


def tiny(name, points=24, frames=25):
    "A smooth field with the unknowns and axes of a system, and its equations."
    dims = "xyzt" if name == "gray_scott" else "xyt"
    axes = {dim: np.linspace(0, 1, points if dim != "t" else frames) for dim in dims}
    grid = np.meshgrid(*axes.values(), indexing="ij", sparse=True)
    def wave(k):
        waves = sum(np.sin((2 + i + k)*values + k) for i, values in enumerate(grid))
        return waves*np.cos(grid[0]*grid[-1] + k) + 0.3*grid[1]
    unknowns = "wuv" if name == "navier_stokes" else "uv"
    values = {unknown: (tuple(dims), wave(k)) for k, unknown in enumerate(unknowns)}
    return xr.Dataset(values, axes, {"pde": '{"w": {"w_xx": 0.01}, "u": {"u_xx": 0.1}, "v": {"v_xx": 0.1}}'})


@pytest.fixture
def small(monkeypatch, tmp_path):
    "The recipes of the systems on tiny fields, with a cache of their own."
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path))
    filters = ("savgol2d", dict(window=5, order=2)), ("svd", dict(rank=dict(w=6, u=5, v=4)))
    changes = {"navier_stokes": dict(denoising=filters, max_size=4),
               "reaction_diffusion": dict(max_size=2), "gray_scott": dict(max_size=3)}
    for name, change in changes.items():
        recipe = recipes.recipes[name]
        library = recipe.library | ({"rows": 300, "half_width": 0.2} if recipe.kind == "weak" else {})
        monkeypatch.setitem(recipes.recipes, name, replace(recipe, library=library, **change))
        monkeypatch.setattr(datasets, name, lambda name=name: tiny(name, 12 if name == "gray_scott" else 24))
    return tmp_path


# --- data -------------------------------------------------------------------------------------------------------------

def test_settings_of_the_systems():
    ns, rd, gs = (recipes.get_recipe(name) for name in systems)
    assert [len(recipe.library["terms"]) for recipe in (ns, rd, gs)] == [19, 76, 25]
    assert [recipe.noise for recipe in (ns, rd, gs)] == [1, 10, 0.1]
    assert [step for step, _ in ns.denoising] == ["savgol2d", "svd"] and ns.kind == "strong"
    assert ns.denoising[1][1]["rank"] == dict(w=26, u=20, v=20)
    assert {name: "".join(recipes.get_recipe(name).targets) for name in systems} == systems


of_systems = [pytest.param(*row, marks=slow) for row in recipes.published_gamma.index[2:]]


@pytest.mark.parametrize("name, target", [("burgers", "u"), ("kdv", "u"), *of_systems])
def test_generalised_criterion(name, target):
    found = ubic.select(recipes.reproduce(name, target=target).path, mode="paper", tau0="P75", gamma=1.0)
    accepted = [step["lam"] for step in found.trace if step["accepted"] and step["lam"] > 0]
    paper = recipes.published_gamma.loc[(name, target), "lam"]
    assert set(found.pde()[target]) == true_terms(name, target)
    if name in ("navier_stokes", "gray_scott"): # data or boxes are not the published ones
        assert min(abs(lam - paper) for lam in accepted) < 0.01*paper
    else: assert accepted[-1] == pytest.approx(paper, abs=1e-4) # the published loop ends before zero


# --- draws ------------------------------------------------------------------------------------------------------------

def test_published_arrangement(small):
    given, arranged = tiny("reaction_diffusion"), recipes.clean("reaction_diffusion")
    np.testing.assert_array_equal(arranged.u.values[3, 5], given.u.values[5, 3][[0, *range(24)]])
    np.testing.assert_array_equal(arranged.t, given.t)
    assert recipes.clean("gray_scott").identical(tiny("gray_scott", 12))


def test_reaction_diffusion_draws_boxes_before_noise(small):
    field, rng = recipes.noisy("reaction_diffusion")
    clean, legacy = recipes.clean("reaction_diffusion"), np.random.RandomState(100)
    boxes = legacy.uniform(size=3*300)
    stack = np.stack([clean.u, clean.v], axis=-1)
    expected = stack + 0.1*stack.std()*legacy.randn(*stack.shape)
    np.testing.assert_allclose(np.stack([field.u, field.v], axis=-1), expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(rng.uniform(size=3*300), boxes)


def test_gray_scott_boxes_have_a_seed_of_their_own(small):
    field, rng = recipes.noisy("gray_scott")
    clean, legacy = tiny("gray_scott", 12), np.random.RandomState(100)
    stack = np.stack([clean.u, clean.v], axis=-1)
    expected = stack + 0.001*stack.std()*legacy.randn(*stack.shape)
    np.testing.assert_allclose(np.stack([field.u, field.v], axis=-1), expected, rtol=0, atol=1e-12)
    assert rng.uniform() == np.random.RandomState(0).uniform()


def test_navier_stokes_noise_comes_unknown_by_unknown(small):
    field, legacy = recipes.noisy("navier_stokes")[0], np.random.RandomState(0)
    for unknown in "wuv":
        u = tiny("navier_stokes")[unknown].values
        np.testing.assert_allclose(field[unknown], u + 0.01*u.std()*legacy.randn(*u.shape), rtol=0, atol=1e-12)


def test_other_noise(small):
    assert recipes.noisy("gray_scott", 7)[0].attrs["noise_percent"] == 7


# --- following --------------------------------------------------------------------------------------------------------

def test_filters_follow_one_another(small):
    noisy = recipes.noisy("navier_stokes")[0]
    by_hand = ubic.denoise.svd(ubic.denoise.savgol2d(noisy, window=5, order=2), dict(w=6, u=5, v=4))
    xr.testing.assert_identical(recipes.denoised("navier_stokes"), by_hand)


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
@pytest.mark.parametrize("denoising", [True, False])
@pytest.mark.parametrize("name, target", [(name, target) for name, targets in systems.items() for target in targets])
def test_kept_reductions_tell_the_same_as_full_systems(small, name, target, denoising):
    recipe, (field, rng) = recipes.get_recipe(name), recipes.noisy(name)
    if denoising: field = recipes.denoise_by(recipe, field)
    full = recipes.select_by(recipe, recipes.systems_by(recipe, field, rng, [target])[target])
    for _ in range(2): # made, then read
        kept = recipes.reproduce(name, denoising, target=target)
        assert kept.path.supports == full.path.supports
        assert kept.path.system.n == full.path.system.n and kept.path.system.target == f"{target}_t"
        np.testing.assert_allclose(kept.bic, full.bic, rtol=1e-9)
        np.testing.assert_allclose(kept.uncertainty, full.uncertainty, rtol=1e-7)
    assert len(list(small.glob("*-reduced-*.npz"))) == 1 # one file for all targets


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
def test_kept_reductions_change_with_the_settings(small, monkeypatch):
    recipes.reproduce("gray_scott")
    recipes.reproduce("gray_scott", percent=0.2)
    monkeypatch.setitem(recipes.recipes, "gray_scott", replace(recipes.recipes["gray_scott"], boxes=1))
    recipes.reproduce("gray_scott")
    monkeypatch.setattr(datasets, "gray_scott", lambda: 1.01*tiny("gray_scott", 12))
    recipes.reproduce("gray_scott")
    assert len(list(small.glob("gray_scott-reduced-*.npz"))) == 4


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
def test_a_damaged_reduction_is_made_again(small):
    found = recipes.reproduce("gray_scott")
    file, = small.glob("gray_scott-reduced-*.npz")
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.warns(UbicWarning, match="damaged"): again = recipes.reproduce("gray_scott")
    np.testing.assert_array_equal(found.bic, again.bic)


def test_recipe_on_ones_own_field(small):
    used, found = recipes.apply(tiny("reaction_diffusion"), "reaction_diffusion", "v")
    path = found["v"].path
    assert path.system.target == "v_t" and path.sizes[-1] == 2 and "savgol2d" in used.attrs["denoised"]


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
@pytest.mark.parametrize("name, targets", systems.items())
def test_recipe_in_one_call(small, name, targets):
    assert list(ubic.discover(tiny(name), recipe=name)) == list(targets)


@pytest.mark.parametrize("target", ["w", "", 3])
def test_target_out_of_range(target):
    with pytest.raises(ValueError, match="`target` must be one of u, v for gray_scott"):
        recipes.reproduce("gray_scott", target=target)


# --- results ----------------------------------------------------------------------------------------------------------

@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
def test_results_are_written_and_read(small, tmp_path):
    for name in systems: recipes.save_results(name, tmp_path/"kept")
    ours = recipes.load_results(tmp_path/"kept")
    assert list(ours.index) == [row for row in recipes.published.index if row[0] in systems]
    assert list(ours) == list(recipes.published)
    pd.testing.assert_frame_equal(ours, pd.concat([recipes.results(name) for name in systems]), check_dtype=False)
    files = sorted(f"{name}.{kind}" for name in systems for kind in ("csv", "npz"))
    assert sorted(path.name for path in (tmp_path/"kept").iterdir()) == files


@pytest.mark.parametrize("name, axes", [("navier_stokes", "xy"), ("gray_scott", "xy"), ("kdv", "xt")])
def test_snapshots_are_small_planes(small, name, axes):
    plane = recipes.snapshot(name, points=10)
    *coordinates, values = plane.values()
    assert list(plane)[:2] == list(axes) and values.shape == tuple(map(len, coordinates))
    assert max(values.shape) <= 10 and values.dtype == np.float32


def test_no_results(tmp_path):
    with pytest.raises(ValueError, match="`folder`.*save_results"): recipes.load_results(tmp_path)


# --- published numbers, from raw data ---------------------------------------------------------------------------------

def true_terms(name, target): return set(true_pde(recipes.clean(name))[target])


@slow
@pytest.mark.parametrize("denoising", [True, False])
@pytest.mark.parametrize("target", "uv")
def test_reaction_diffusion(target, denoising):
    found = recipes.reproduce("reaction_diffusion", denoising, target=target)
    assert found.path.exact and set(found.pde()[target]) == true_terms("reaction_diffusion", target)
    assert (recipes.compare("reaction_diffusion", denoising, target)["relative difference"] < 1e-3).all()
    if denoising: # beyond eight terms, products with mixed derivatives differ
        curves = recipes.compare_curves(found, "reaction_diffusion").iloc[:8]
        for quantity in ("BIC", "uncertainty"):
            np.testing.assert_allclose(curves[f"{quantity}, ours"], curves[f"{quantity}, paper"], rtol=5e-5)


@slow
def test_navier_stokes():
    found = recipes.reproduce("navier_stokes")
    assert found.path.exact and found.path.system.n == 8_342_750
    assert set(found.pde()["w"]) == true_terms("navier_stokes", "w")
    table = recipes.compare("navier_stokes")
    assert table.ours["%CE"] <= table.paper["%CE"] and (table["relative difference"] < 0.05).all()


@slow
@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
def test_navier_stokes_needs_denoising():
    with pytest.warns(UbicWarning, match="BIC alone decides"):
        found = recipes.reproduce("navier_stokes", denoising=False)
    assert set(found.pde()["w"]) != true_terms("navier_stokes", "w")
    assert true_terms("navier_stokes", "w") != set(map(str, found.path.terms(3)))
    assert (recipes.compare("navier_stokes", denoising=False)["relative difference"] < 0.05).all()


@slow
@pytest.mark.parametrize("denoising", [True, False])
@pytest.mark.parametrize("target, size", [("u", 6), ("v", 5)])
def test_gray_scott(target, size, denoising):
    found = recipes.reproduce("gray_scott", denoising, target=target)
    truth = true_pde(recipes.clean("gray_scott"))[target]
    assert found.path.exact and found.size == size and set(found.pde()[target]) == set(truth)
    table = recipes.compare("gray_scott", denoising, target)
    assert (table.drop(index="%CE")["relative difference"] < 0.02).all()
    assert (np.abs(found.coef - [truth[str(term)] for term in found.terms]) < 4*found.std).all()
    error = coefficient_error(found.pde()[target], truth).mean()
    assert error < 2*table.paper["%CE"] # the boxes of the paper are not known


# --- candidates of the paper ------------------------------------------------------------------------------------------

def test_candidates_of_the_paper():
    rd, gs, ns = (paper_terms[name] for name in ("reaction_diffusion", "gray_scott", "navier_stokes"))
    assert (len(rd), len(gs), len(ns)) == (76, 25, 19)
    assert rd[:16] == "u v u^3 v^3 u*v^2 u^2*v u_y v_y u_yy v_yy u_x v_x u_xy v_xy u_xx v_xx".split()
    assert rd[16] == "u*u_y" and rd[22] == "u*v_y" and rd[75] == "u^2*v*v_xx"
    assert [gs[j] for j in (0, 1, 5, 9, 15, 23)] == ["1", "u", "u*v^2", "u_zz", "u_yy", "u_xx"]
    assert [gs[j] for j in (2, 5, 10, 16, 24)] == ["v", "u*v^2", "v_zz", "v_yy", "v_xx"]
    assert [ns[j] for j in (5, 6, 11, 16)] == ["w_xx", "w_yy", "u*w_x", "v*w_y"]
    for terms in (rd, gs, ns): assert [str(parse_term(term)) for term in terms] == terms


def test_paper_libraries_can_be_built():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rd, gs = paper_terms["reaction_diffusion"], paper_terms["gray_scott"]
        flat = weak(white_noise((24, 24, 24), "xyt"), "u", terms=rd, form="pysindy", rows=300, half_width=0.3)
        deep = weak(white_noise((14, 14, 14, 14), "xyzt"), "v", terms=gs, form="pysindy", rows=300, half_width=0.4)
    assert len(flat.terms) == 76 and len(deep.terms) == 25


# --- published numbers along a line, from raw data --------------------------------------------------------------------
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
