"""The weak library of fields along one, two and three space axes, beside PySINDy's: same boxes, same numbers."""
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
    noisy = field(name)
    terms = peers.terms(noisy, derivative_order)
    def ours(): return weak(noisy, "u", terms=terms, form="pysindy", order=p, rows=rows, seed=np.random.RandomState(0))
    def theirs(): return peers.matrix(noisy, rows, derivative_order=derivative_order, p=p)
    def agreement(system, peer):
        columns, target = peer
        sizes = np.abs(columns).max(axis=0)
        difference = max(apart(system.X/sizes, columns/sizes), apart(system.y, target))
        return f"largest difference {difference:.0e}"
    points = " × ".join(map(str, noisy.sizes.values()))
    task = f"weak library of {name.replace('_', '–')}, {points} points, {len(terms)} candidates, {rows} boxes"
    return compare(task, "PySINDy WeakPDELibrary", ours, theirs, agreement, repeats=3)


def jobs(full):
    yield partial(weak_library, "burgers", 10_000 if full else 1000, p=2)
    yield partial(weak_library, "kdv", 1000, derivative_order=4)
    yield partial(weak_library, "reaction_diffusion", 1000 if full else 200)
    yield partial(weak_library, "gray_scott", 500 if full else 100)
