"""Libraries, subset search and the whole road beside what people use today, in one run, one thread each.  usage: python -m benchmarks.bench_core [--full]"""
import argparse
import time
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ubic import datasets, discover
from ubic.field import add_noise
from ubic.library import weak
from ubic.subsets import best_subsets
from ubic.system import LinearSystem


def median_time(function, repeats):
    "Median wall time of several calls, and the last result."
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return float(np.median(times)), result


def row(name, ours_s, peer_s, agreement):
    return {"name": name, "ours_s": ours_s, "peer_s": peer_s, "ratio": peer_s/ours_s, "agreement": agreement}


# --- exact search ---------------------------------------------------------------------------------------------------------------

def sparse_problem(n=10_000, p=14, seed=0):
    "Correlated candidates, five of which make the target."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7*rng.standard_normal((n, 1))
    return X, X[:, ::3] @ [1.0, -0.5, 0.3, 0.2, -0.1] + 0.5*rng.standard_normal(n)


def loop_over_subsets(X, y, subsets):
    "Residual of each subset by least squares on all rows."
    return [np.sum((y - X[:, s] @ np.linalg.lstsq(X[:, s], y, rcond=None)[0])**2) for s in subsets]


def exhaustive_supports(X, y):
    "Best support of each size by solving every subset on the triangle of [X | y]: independent of the search under test."
    R = np.linalg.qr(np.column_stack([X, y]), mode="r")
    p = X.shape[1]
    return [min(combinations(range(p), k), key=lambda s: np.linalg.lstsq(R[:, list(s)], R[:, -1], rcond=None)[1][0]) for k in range(1, p + 1)]


def exact_search(quick):
    X, y = sparse_problem()
    p = X.shape[1]
    subsets = [list(s) for k in range(1, p + 1) for s in combinations(range(p), k)]
    best_subsets(LinearSystem(X[:100], y[:100])) # compiles
    ours_s, path = median_time(lambda: best_subsets(LinearSystem(X, y)), 15)
    sample = [subsets[i] for i in np.random.default_rng(1).choice(len(subsets), 600, replace=False)] if quick else subsets
    loop_over_subsets(X, y, sample[:5])
    peer_s, _ = median_time(lambda: loop_over_subsets(X, y, sample), 1)
    same = sum(a == b for a, b in zip(path.supports, exhaustive_supports(X, y)))
    name = f"exact best subsets, {len(X)} rows, {p} candidates / lstsq over {len(subsets)} subsets" + (f" (from {len(sample)})" if quick else "")
    return row(name, ours_s, peer_s*len(subsets)/len(sample), f"{same} of {p} supports equal")


# --- weak library ---------------------------------------------------------------------------------------------------------------

def peer_boxes(ds, rows):
    "PySINDy's weak library of second derivatives, with p = 2."
    import pysindy as ps
    np.random.seed(0) # PySINDy draws its boxes from the global generator
    grid = np.stack(np.meshgrid(ds.x.values, ds.t.values, indexing="ij"), axis=-1)
    powers = ps.PolynomialLibrary(degree=2, include_bias=False)
    return ps.WeakPDELibrary(function_library=powers, derivative_order=2, spatiotemporal_grid=grid, K=rows, p=2)


def peer_library(ds, rows):
    "Its matrix and target."
    from pysindy import AxesArray
    library, u = peer_boxes(ds, rows), AxesArray(ds.u.values[..., None], {"ax_spatial": [0], "ax_time": 1, "ax_coord": 2})
    return np.asarray(library.fit(u).transform(u)), library.convert_u_dot_integral(ds.u.values[..., None])[:, 0]


def library_of_boxes(ds, rows):
    def ours(): return weak(ds, form="pysindy", order=2, rows=rows, seed=np.random.RandomState(0))
    ours()
    ours_s, system = median_time(ours, 7)
    peer_s, (X, y) = median_time(lambda: peer_library(ds, rows), 1)
    difference = max(np.max(np.abs(system.X - X)/np.abs(X).max(axis=0)), np.max(np.abs(system.y - y))/np.abs(y).max())
    return row(f"weak library of Burgers, {rows} boxes / PySINDy WeakPDELibrary", ours_s, peer_s, f"largest relative difference {difference:.1e}")


# --- the whole road -------------------------------------------------------------------------------------------------------------

def peer_road(ds, rows):
    "The usual script: weak library, sequentially thresholded least squares."
    import pysindy as ps
    model = ps.SINDy(feature_library=peer_boxes(ds, rows), optimizer=ps.STLSQ(threshold=0.05, alpha=1e-12))
    model.fit(ds.u.values[..., None], t=ds.t.values, feature_names=["u"])
    return " ".join(f"{c:+.3f} {name}" for c, name in zip(model.coefficients()[0], model.get_feature_names()) if c)


def whole_road(ds, rows):
    def ours(): return discover(ds)["u"]
    ours()
    ours_s, found = median_time(ours, 5)
    peer_s, equation = median_time(lambda: peer_road(ds, rows), 1)
    mine = " ".join(f"{c:+.3f} {term}" for c, term in zip(found.coef, found.terms))
    return row(f"Burgers with 30 % noise to its equation / PySINDy weak form and STLSQ, {rows} boxes", ours_s, peer_s, f"ours {mine}; peer {equation}")


@threadpool_limits.wrap(limits=1, user_api="blas")
def main(
    quick: bool = True, # time a sample of the loop over subsets instead of all of it
) -> pd.DataFrame:
    "All comparisons, one row each; ours is the median of several runs after the first, which may compile."
    noisy = add_noise(datasets.burgers(), 30, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.DataFrame([exact_search(quick), library_of_boxes(noisy, 10_000), whole_road(noisy, 10_000)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="run the whole loop over subsets")
    print(main(quick=not parser.parse_args().full).to_string(index=False, float_format=lambda value: f"{value:.3g}"))
