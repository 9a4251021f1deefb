"""How the cost of each stage scales with rows, candidates, grid and frames.

Seconds at several sizes, and the power of the size that they follow.
"""
from functools import partial

import numpy as np
import xarray as xr

import ubic
from benchmarks.bench_search import problem
from benchmarks.harness import exponent, in_turns, spread
from ubic.system import LinearSystem
from ubic.terms import candidates

FIRST = {"power": 2, "constant": False, "fluxes": False} # candidates to begin with, the same for all sizes
COLUMNS = "stage against size seconds spread repeats exponent".split()


def waves(points, frames, noise=10):
    "Burgers' equation from the same few waves over the same time, on a finer grid or with more frames."
    x = np.arange(points)*20/points
    u = np.sin(np.pi*x/5) + 0.5*np.cos(np.pi*x/10) + 0.3*np.sin(0.7*np.pi*x)
    start = xr.Dataset({"u": ("x", u)}, {"x": x})
    field = ubic.simulate({"u": {"u_xx": 0.1, "u*u_x": -1}}, start, np.linspace(0, 10, frames))
    return ubic.add_noise(field, noise, seed=0)


def library(ds, **settings): return lambda: ubic.library.weak(ds, **settings)


def library_of_rows(size): return library(waves(256, 201), form="pysindy", rows=size)


def library_of_points(size): return library(waves(size, 201))


def library_of_frames(size): return library(waves(256, size))


def library_of_candidates(size): return library(waves(256, 201), terms=candidates(power=5, derivative_order=5)[:size])


def reduction(rows, p):
    "From rows to the triangle."
    system = problem(p, n=rows)
    return lambda: LinearSystem(system.X, system.y)


def search(p, max_size=5, true=5):
    "On the triangle, however many rows there were."
    system = problem(p, true)
    return lambda: ubic.best_subsets(system, max_size)


def discovery_of_points(size): return partial(ubic.discover, waves(size, 101), **FIRST)


def discovery_of_frames(size): return partial(ubic.discover, waves(128, size), **FIRST)


def curve(stage, against, make, sizes, repeats=3):
    "Rows of one curve, its sizes timed in turns."
    seconds, _ = in_turns([make(size) for size in sizes], repeats)
    medians = np.median(seconds, axis=0)
    power = exponent(sizes, medians)
    def row(size, median, column):
        return dict(zip(COLUMNS, (stage, against, size, median, spread(column), len(seconds), power)))
    return [row(*measured) for measured in zip(sizes, medians, seconds.T)]


def jobs(full):
    def doubled(first, quick, more): return [first*2**k for k in range(more if full else quick)]
    yield partial(curve, "weak library", "rows", library_of_rows, doubled(4000, 4, 7))
    yield partial(curve, "weak library", "candidates", library_of_candidates, doubled(4, 3, 4))
    yield partial(curve, "weak library", "points along x", library_of_points, doubled(256, 4, 6))
    yield partial(curve, "weak library", "frames", library_of_frames, doubled(101, 4, 6))
    yield partial(curve, "reduction", "rows", partial(reduction, p=20), doubled(4000, 4, 7))
    yield partial(curve, "reduction", "candidates", partial(reduction, 5000), doubled(10, 3, 5))
    yield partial(curve, "exact search to size 5", "candidates", search, doubled(25, 3, 4))
    yield partial(curve, "discover", "points along x", discovery_of_points, doubled(256, 3, 6))
    yield partial(curve, "discover", "frames", discovery_of_frames, doubled(101, 3, 6))
