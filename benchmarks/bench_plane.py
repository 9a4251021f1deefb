"""Filters, truncation and the weak library of a system in the plane beside what people use today, in one run, one thread each.  usage: python -m benchmarks.bench_plane [--full]"""
import argparse
import warnings

import numpy as np
import pandas as pd
from scipy.signal import convolve2d
from threadpoolctl import threadpool_limits

from benchmarks.bench_core import median_time, row
from ubic.denoise import plane_kernel, savgol2d, svd
from ubic.field import add_noise, as_field
from ubic.library import weak
from ubic.recipes import paper_terms


def spiral(n=128, frames=201):
    "A turning spiral in two unknowns, the initial state of the reaction–diffusion system of the paper, with 10 % noise."
    c, t = np.linspace(-10, 10, n, endpoint=False), np.linspace(0, 10, frames)
    radius, angle = np.hypot(c[:, None], c), np.arctan2(c, c[:, None])
    turn = (angle - radius)[..., None] + t
    ds = as_field({"u": np.tanh(radius)[..., None]*np.cos(turn), "v": np.tanh(radius)[..., None]*np.sin(turn)}, dims=("x", "y", "t"), x=c, y=c, t=t)
    return add_noise(ds, 10, seed=0)


def filter_of_frames(ds, window):
    "One unknown, all frames."
    ds = ds[["u"]]
    def peer(): return np.stack([convolve2d(ds.u.values[..., k], plane_kernel(window), mode="same", boundary="symm") for k in range(ds.sizes["t"])], axis=-1)
    savgol2d(ds, window)
    ours_s, ours = median_time(lambda: savgol2d(ds, window), 5)
    peer_s, frames = median_time(peer, 3)
    return row(f"Savitzky–Golay {window} × {window} of {ds.sizes['t']} frames / convolve2d frame by frame", ours_s, peer_s, f"largest difference {np.abs(ours.u.values - frames).max():.1e}")


def truncation(ds, rank):
    "One unknown, space × time."
    matrix = ds.u.values.reshape(-1, ds.sizes["t"])
    def peer():
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        return (left[:, :rank]*values[:rank]) @ right[:rank]
    ours_s, ours = median_time(lambda: svd(ds[["u"]], rank), 5)
    peer_s, kept = median_time(peer, 3)
    return row(f"rank {rank} of {matrix.shape[0]} × {matrix.shape[1]} / full SVD", ours_s, peer_s, f"largest difference {np.abs(ours.u.values.reshape(matrix.shape) - kept).max():.1e}")


def peer_library(ds, rows):
    "PySINDy's weak library with the 76 candidates of the paper."
    import pysindy as ps
    np.random.seed(0) # PySINDy draws its boxes from the global generator
    grid = np.stack(np.meshgrid(ds.x.values, ds.y.values, ds.t.values, indexing="ij"), axis=-1)
    functions = ps.CustomLibrary(library_functions=[lambda u: u, lambda u: u**3, lambda u, v: u*v**2, lambda u, v: u**2*v])
    library = ps.WeakPDELibrary(function_library=functions, derivative_order=2, spatiotemporal_grid=grid, K=rows, p=4)
    data = ps.AxesArray(np.stack([ds.u.values, ds.v.values], axis=-1), {"ax_spatial": [0, 1], "ax_time": 2, "ax_coord": 3})
    return np.asarray(library.fit(data).transform(data)), library.convert_u_dot_integral(np.asarray(data))[:, 0]


def library_of_boxes(ds, rows, quick):
    def ours(rows): return weak(ds, "u", terms=paper_terms["reaction_diffusion"], form="pysindy", rows=rows, seed=np.random.RandomState(0))
    ours(100)
    ours_s, _ = median_time(lambda: ours(rows), 5)
    few, some = (rows//20, rows//4) if quick else (0, rows)
    few_s = median_time(lambda: peer_library(ds, few), 1)[0] if quick else 0.0
    some_s, (X, y) = median_time(lambda: peer_library(ds, some), 1)
    peer_s = few_s + (some_s - few_s)*(rows - few)/(some - few) # a straight line through two sizes when quick
    system = ours(some)
    difference = max(np.max(np.abs(system.X - X)/np.abs(X).max(axis=0)), np.max(np.abs(system.y - y))/np.abs(y).max())
    name = f"weak library of a plane system, {'×'.join(map(str, ds.sizes.values()))}, 76 candidates, {rows} boxes / PySINDy WeakPDELibrary" + (f" (from {few} and {some})" if quick else "")
    return row(name, ours_s, peer_s, f"largest relative difference {difference:.1e}")


@threadpool_limits.wrap(limits=1, user_api="blas")
def main(
    quick: bool = True, # time PySINDy on fewer boxes; all of them need about 20 GB
) -> pd.DataFrame:
    "All comparisons, one row each; ours is the median of several runs after the first, which may compile."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        large = spiral(256) # the size of the paper
        return pd.DataFrame([filter_of_frames(large, 7), truncation(large, 10), library_of_boxes(spiral(), 10_000, quick)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="give PySINDy all boxes")
    print(main(quick=not parser.parse_args().full).to_string(index=False, float_format=lambda value: f"{value:.3g}"))
