"""Fields over two and three space axes: filters in planes, ranks per unknown, weak libraries beside PySINDy.

Also the candidates of the paper.
"""
import warnings

import numpy as np
import pytest
from scipy.ndimage import correlate
from scipy.signal import convolve2d

import ubic.library as library
from ubic.denoise import plane_kernel, savgol2d, svd
from ubic.field import as_field
from ubic.library import difference, weak
from ubic.recipes import paper_terms
from ubic.terms import parse_term
from ubic.weakform import rows as rows_room


def noisy(shape, dims, names="uv", seed=0, dtype=float):
    "White noise on a grid with different steps along all axes."
    rng = np.random.default_rng(seed)
    axes = {dim: np.linspace(0, 1 + i, n) for i, (dim, n) in enumerate(zip(dims, shape))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore") # noise looks rough, and is
        return as_field({name: rng.standard_normal(shape).astype(dtype) for name in names}, dims=tuple(dims), **axes)


# --- Savitzky–Golay in planes -------------------------------------------------------------------------------------

@pytest.mark.parametrize("window, order", [(3, 2), (7, 2), (9, 2), (7, 5), (5, 0), (5, 3)])
def test_filter_is_a_convolution_of_every_frame(window, order):
    field, kernel = noisy((31, 40, 7), "xyt"), plane_kernel(window, order)
    ours = savgol2d(field, window, order)
    for name in "uv":
        for t in range(7):
            frame, found = field[name].values[..., t], ours[name].values[..., t]
            convolved = convolve2d(frame, kernel, mode="same", boundary="symm")
            np.testing.assert_allclose(found, convolved, rtol=0, atol=1e-12)
            np.testing.assert_allclose(found, correlate(frame, kernel, mode="reflect"), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dims", [("x", "y"), ("x", "z"), ("z", "y")])
def test_filter_goes_through_all_planes(dims):
    field = noisy((11, 12, 13, 6), "xyzt", "u")
    axes = ["xyzt".index(dim) for dim in dims]
    kernel = np.expand_dims(plane_kernel(5), [axis for axis in range(4) if axis not in axes])
    correlated = correlate(field.u.values, kernel, mode="reflect")
    np.testing.assert_allclose(savgol2d(field, 5, dims=dims).u.values, correlated, rtol=0, atol=1e-12)


def test_frames_longer_than_a_stretch():
    field = noisy((9, 8, 300), "xyt", "u")
    correlated = correlate(field.u.values, plane_kernel(5)[..., None], mode="reflect")
    np.testing.assert_allclose(savgol2d(field, 5).u.values, correlated, rtol=0, atol=1e-12)


def test_polynomials_pass_inside():
    i, j = np.arange(20.0)[:, None, None], np.arange(21.0)[None, :, None]
    values = (1 + i - 2*j + i*j + i**2 - j**2)*(1 + np.arange(6.0))
    field = as_field(values, dims=("x", "y", "t"), x=np.arange(20.0), y=np.arange(21.0), t=np.arange(6.0))
    np.testing.assert_allclose(savgol2d(field, 7).u[3:-3, 3:-3], field.u[3:-3, 3:-3], rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("shape, order, window", [
    ((325, 170), 2, 9), ((256, 256), 2, 7), ((128, 128), 2, 3), ((40, 40), 2, 3), ((40, 40), 3, 5), ((40, 40), 5, 7),
])
def test_default_window(shape, order, window):
    assert f"window={window}," in savgol2d(noisy((*shape, 5), "xyt", "u"), order=order).attrs["denoised"]


def test_single_precision_stays():
    field = noisy((20, 20, 6), "xyt", dtype=np.float32)
    assert savgol2d(field).u.dtype == svd(field, 2).u.dtype == np.float32


@pytest.mark.parametrize("options, found", [
    ({"window": 4}, "`window` is 4"), ({"window": 3, "order": 5}, "`window`"), ({"window": 33}, "`window`"),
    ({"window": 5.5}, "`window`"), ({"order": -1}, "`order`"), ({"dims": ("x", "z")}, "`dims` has 'z'"),
    ({"dims": ("x", "x")}, "`dims`"), ({"dims": "xy"}, "`dims`"),
])
def test_filter_refuses(options, found):
    with pytest.raises((ValueError, TypeError), match=found): savgol2d(noisy((20, 30, 6), "xyt"), **options)


# --- truncated SVD ------------------------------------------------------------------------------------------------

def truncated(u, rank):
    left, values, right = np.linalg.svd(u.reshape(-1, u.shape[-1]), full_matrices=False)
    return ((left[:, :rank]*values[:rank]) @ right[:rank]).reshape(u.shape)


@pytest.mark.parametrize("shape, dims", [((30, 20, 15), "xyt"), ((8, 9, 10, 12), "xyzt"), ((12, 40), "xt")])
def test_rank_for_each_unknown(shape, dims):
    field = noisy(shape, dims, "uvw")
    ours = svd(field, {"w": 7, "u": 3, "v": 1})
    for name, rank in {"u": 3, "v": 1, "w": 7}.items():
        np.testing.assert_allclose(ours[name], truncated(field[name].values, rank), rtol=0, atol=1e-11)


@pytest.mark.parametrize("last", [1e-3, 1e-5, 1e-9, 1e-12]) # the latter two are beyond the reach of the Gram matrix
def test_small_singular_values(last):
    rng = np.random.default_rng(0)
    left, right = np.linalg.qr(rng.standard_normal((400, 8)))[0], np.linalg.qr(rng.standard_normal((20, 8)))[0]
    matrix = (left*np.r_[np.geomspace(1, last, 5), np.geomspace(last/10, last/100, 3)]) @ right.T
    points = np.arange(20.0)
    field = as_field(matrix.reshape(20, 20, 20), dims=("x", "y", "t"), x=points, y=points, t=points)
    np.testing.assert_allclose(svd(field, 5).u, truncated(matrix, 5).reshape(20, 20, 20), rtol=0, atol=1e-10)


@pytest.mark.parametrize("rank", [0, 16, 2.5, {"u": 3}, {"u": 3, "v": 3, "w": 3}, {"u": 3, "v": 16}, {}])
def test_svd_refuses(rank):
    with pytest.raises((ValueError, TypeError), match="`rank`"): svd(noisy((30, 20, 15), "xyt"), rank)


# --- weak libraries beside PySINDy --------------------------------------------------------------------------------

functions = ["u", "v", "u^3", "v^3", "u*v^2", "u^2*v"]


def peer(field, rows, widths, derivative_order):
    "Matrix, targets and terms of PySINDy's weak library."
    ps = pytest.importorskip("pysindy")
    np.random.seed(0) # PySINDy draws its boxes from the global generator
    dims, data = list(field.dims), np.stack([field.u.values, field.v.values], axis=-1)
    choice = ps.CustomLibrary(library_functions=[lambda u: u, lambda u: u**3, lambda u, v: u*v**2, lambda u, v: u**2*v])
    grid = np.stack(np.meshgrid(*(field[dim].values for dim in dims), indexing="ij"), axis=-1)
    settings = {"function_library": choice, "derivative_order": derivative_order, "spatiotemporal_grid": grid}
    weak_library = ps.WeakPDELibrary(**settings, K=rows, H_xt=widths, p=4, include_bias=True)
    x = ps.AxesArray(data, {"ax_spatial": list(range(len(dims) - 1)), "ax_time": len(dims) - 1, "ax_coord": len(dims)})
    words = ["".join(dim*n for dim, n in zip(dims, orders)) for orders in weak_library.multiindices]
    derivatives = [f"{name}_{word}" for word in words for name in "uv"]
    products = [f"{function}*{derivative}" for derivative in derivatives for function in functions]
    terms = ["1"] + functions + derivatives + products
    return np.asarray(weak_library.fit(x).transform(x)), weak_library.convert_u_dot_integral(data), terms


@pytest.mark.parametrize("slab", [2**29, 2**20])
@pytest.mark.parametrize("shape, dims, derivative_order", [
    ((20, 22, 24), "xyt", 2), ((20, 22, 24), "xyt", 3), ((14, 12, 13, 16), "xyzt", 2), ((40, 50), "xt", 4),
])
def test_same_numbers_as_pysindy(monkeypatch, shape, dims, derivative_order, slab):
    monkeypatch.setattr(rows_room, "tile_bytes", slab)
    field, widths = noisy(shape, dims), [0.17*(1 + i) for i in range(len(shape))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y, terms = peer(field, 200, widths, derivative_order)
        half_width, largest = dict(zip(dims, widths)), np.abs(X).max(axis=0)
        for k, target in enumerate("uv"):
            settings = {"terms": terms, "form": "pysindy", "rows": 200, "half_width": half_width}
            system = weak(field, target, **settings, seed=np.random.RandomState(0))
            position = [system.terms.index(parse_term(term)) for term in terms]
            np.testing.assert_allclose(system.X[:, position]/largest, X/largest, rtol=0, atol=1e-10)
            np.testing.assert_allclose(system.y, y[:, k], rtol=0, atol=1e-10*np.abs(y).max())


def test_compiled_differences_are_plain_ones():
    u = np.random.default_rng(0).standard_normal((9, 10, 11))
    for axis in range(3):
        plain = np.gradient(u, 0.1, axis=axis, edge_order=2)
        np.testing.assert_allclose(difference(u, 0.1, 1, axis), plain, rtol=0, atol=1e-12)
        plain = np.gradient(u[::2, ::-1], 0.1, axis=axis, edge_order=2)
        np.testing.assert_allclose(difference(u[::2, ::-1], 0.1, 1, axis, 2), plain, rtol=0, atol=1e-12)


# --- candidates of the paper --------------------------------------------------------------------------------------

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
        flat = weak(noisy((24, 24, 24), "xyt"), "u", terms=rd, form="pysindy", rows=300, half_width=0.3)
        deep = weak(noisy((14, 14, 14, 14), "xyzt"), "v", terms=gs, form="pysindy", rows=300, half_width=0.4)
    assert len(flat.terms) == 76 and len(deep.terms) == 25


@pytest.mark.parametrize("names", [["u", "v"], ("u", "v"), {"u": 1, "v": 2}.keys(), np.array(["u", "v"])])
def test_several_targets_share_one_table(names):
    "Any list of names gives a system for each, equal to the one made alone."
    rng = np.random.default_rng(0)
    c, t = np.linspace(0, 6, 24), np.linspace(0, 3, 20)
    wave = np.sin(c[:, None, None] + 2*c[None, :, None] - t) + np.cos(2*c[:, None, None] - c[None, :, None] + 0.5*t)
    unknowns = {"u": wave + 0.1*rng.standard_normal(wave.shape), "v": wave**2}
    field = as_field(unknowns, dims=("x", "y", "t"), x=c, y=c, t=t)
    both = library.weak(field, names, power=1)
    assert list(both) == ["u", "v"]
    for name, system in both.items():
        alone = library.weak(field, name, power=1)
        assert system.terms == alone.terms and system.target == f"{name}_t"
        assert np.array_equal(system.X, alone.X) and np.array_equal(system.y, alone.y)
        assert np.allclose(np.abs(system.R), np.abs(alone.R), rtol=0, atol=1e-12*np.abs(alone.R).max())
