"Filters against published arrays and their definitions, along lines and in planes, and what they must refuse."
import numpy as np
import pytest
from scipy.ndimage import correlate
from scipy.signal import convolve2d

from denoising import published_denoised, published_noisy, toy
from libraries import white_noise
from ubic.denoise import ksvd, plane_kernel, savgol, savgol2d, svd
from ubic.field import as_field


def test_published_kdv_array_is_a_savgol_filter(reference):
    _, noisy = published_noisy(reference, "kdv")
    assert np.abs(savgol(noisy, 33, 2, "x").u.values - published_denoised(reference, "kdv")).max() < 1e-12


def test_every_unknown_is_denoised_and_attributes_kept():
    ds = toy()
    ds = ds.assign(v=(ds.u * 100).astype("float32"))
    for method in (lambda d: ksvd(d, iterations=3), lambda d: savgol(d, 7, dim="t"), lambda d: svd(d, 2)):
        out = method(ds)
        assert out.attrs["title"] == "toy" and out.attrs["denoised"] and "denoised" not in ds.attrs
        assert out.v.dtype == np.float32 and out.u.dtype == np.float64 and out.sizes == ds.sizes
        assert np.allclose(out.v, 100 * out.u, atol=1e-2 * float(np.abs(out.v).max()))
    assert ksvd(savgol(ds, 7), iterations=1).attrs["denoised"].count(";") == 1


def test_axes_in_another_order_are_accepted():
    assert np.allclose(savgol(toy().transpose("t", "x"), 7).u, savgol(toy(), 7).u)


# --- Savitzky–Golay in planes -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("window, order", [(3, 2), (7, 2), (9, 2), (7, 5), (5, 0), (5, 3)])
def test_filter_is_a_convolution_of_every_frame(window, order):
    field, kernel = white_noise((31, 40, 7), "xyt"), plane_kernel(window, order)
    ours = savgol2d(field, window, order)
    for name in "uv":
        for t in range(7):
            frame, found = field[name].values[..., t], ours[name].values[..., t]
            convolved = convolve2d(frame, kernel, mode="same", boundary="symm")
            np.testing.assert_allclose(found, convolved, rtol=0, atol=1e-12)
            np.testing.assert_allclose(found, correlate(frame, kernel, mode="reflect"), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dims", [("x", "y"), ("x", "z"), ("z", "y")])
def test_filter_goes_through_all_planes(dims):
    field = white_noise((11, 12, 13, 6), "xyzt", "u")
    axes = ["xyzt".index(dim) for dim in dims]
    kernel = np.expand_dims(plane_kernel(5), [axis for axis in range(4) if axis not in axes])
    correlated = correlate(field.u.values, kernel, mode="reflect")
    np.testing.assert_allclose(savgol2d(field, 5, dims=dims).u.values, correlated, rtol=0, atol=1e-12)


def test_frames_longer_than_a_stretch():
    field = white_noise((9, 8, 300), "xyt", "u")
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
    assert f"window={window}," in savgol2d(white_noise((*shape, 5), "xyt", "u"), order=order).attrs["denoised"]


def test_single_precision_stays():
    field = white_noise((20, 20, 6), "xyt", dtype=np.float32)
    assert savgol2d(field).u.dtype == svd(field, 2).u.dtype == np.float32


@pytest.mark.parametrize("options, found", [
    ({"window": 4}, "`window` is 4"), ({"window": 3, "order": 5}, "`window`"), ({"window": 33}, "`window`"),
    ({"window": 5.5}, "`window`"), ({"order": -1}, "`order`"), ({"dims": ("x", "z")}, "`dims` has 'z'"),
    ({"dims": ("x", "x")}, "`dims`"), ({"dims": "xy"}, "`dims`"),
])
def test_filter_refuses(options, found):
    with pytest.raises((ValueError, TypeError), match=found): savgol2d(white_noise((20, 30, 6), "xyt"), **options)


# --- truncated SVD ----------------------------------------------------------------------------------------------------

def truncated(u, rank):
    left, values, right = np.linalg.svd(u.reshape(-1, u.shape[-1]), full_matrices=False)
    return ((left[:, :rank]*values[:rank]) @ right[:rank]).reshape(u.shape)


@pytest.mark.parametrize("shape, dims", [((30, 20, 15), "xyt"), ((8, 9, 10, 12), "xyzt"), ((12, 40), "xt")])
def test_rank_for_each_unknown(shape, dims):
    field = white_noise(shape, dims, "uvw")
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
    with pytest.raises((ValueError, TypeError), match="`rank`"): svd(white_noise((30, 20, 15), "xyt"), rank)
