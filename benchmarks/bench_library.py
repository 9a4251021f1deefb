"""The weak library of fields along one, two and three space axes, beside PySINDy's: the same boxes, the same numbers."""
from functools import partial

import numpy as np

from benchmarks import peers
from benchmarks.harness import apart, compare
from ubic import datasets
from ubic.field import add_noise
from ubic.library import weak

NOISE = {"burgers": 30, "kdv": 30, "reaction_diffusion": 10, "gray_scott": 1}


def field(name):
    "A noisy field of the paper; the small one where there are several sizes."
    make = getattr(datasets, name)
    return add_noise(make() if name in ("burgers", "kdv") else make(size="small"), NOISE[name], seed=0)


def weak_library(name, rows, derivative_order=2, p=4):
    ds = field(name)
    terms = peers.terms(ds, derivative_order)
    def ours(): return weak(ds, "u", terms=terms, form="pysindy", order=p, rows=rows, seed=np.random.RandomState(0))
    def agreement(system, peer): return f"largest difference {max(apart(system.X/np.abs(peer[0]).max(axis=0), peer[0]/np.abs(peer[0]).max(axis=0)), apart(system.y, peer[1])):.0e}"
    return compare(f"weak library of {name.replace('_', '–')}, {' × '.join(map(str, ds.sizes.values()))} points, {len(terms)} candidates, {rows} boxes", "PySINDy WeakPDELibrary",
                   ours, lambda: peers.matrix(ds, rows, derivative_order=derivative_order, p=p), agreement, repeats=3)


def jobs(full):
    yield partial(weak_library, "burgers", 10_000 if full else 1000, p=2)
    yield partial(weak_library, "kdv", 1000, derivative_order=4)
    yield partial(weak_library, "reaction_diffusion", 1000 if full else 200)
    yield partial(weak_library, "gray_scott", 500 if full else 100)
