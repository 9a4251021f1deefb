"""The same seed gives the same numbers.

Again, in other processes, with other numbers of threads, with kernels just compiled or kept; and nobody touches the
global generators. Bytes agree, except where BLAS adds in another order when it has more threads: there TOLERANCE is the
largest difference, relative to the largest number. This file is also the program that such a process runs.
"""
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
TOLERANCE = {
    "svd": 1e-12,
    "weak": 1e-12,
    "strong": 1e-12,
    "discover": 1e-12,
    "discover in a plane": 1e-12,
    "validate": 1e-9,
}
SPIRAL = {
    "u": {"u": 1, "u^3": -1, "v^3": 1, "u*v^2": -1, "u^2*v": 1, "u_xx": 0.1, "u_yy": 0.1},
    "v": {"v": 1, "u^3": -1, "v^3": -1, "u*v^2": -1, "u^2*v": -1, "v_xx": 0.1, "v_yy": 0.1},
}
SOLVERS = ("exact", "greedy", "frols", "l0bnb", "two_step")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def noisy():
    import ubic
    return ubic.add_noise(ubic.datasets.burgers(cache=False), 30, seed=0)


def spiral(points=32, frames=11):
    import xarray as xr
    from ubic import datasets, simulate
    x = -10 + 20*np.arange(points)/points
    unknowns = {name: (("x", "y"), u) for name, u in datasets.spiral_start(x[:, None], x).items()}
    return simulate(SPIRAL, xr.Dataset(unknowns, {"x": x, "y": x}), np.arange(frames)/20)


def fields():
    "Generators of data, noise and denoising."
    import ubic
    from ubic import datasets
    from ubic.cylinder import Channel, wake
    for name in ("burgers", "kdv", "ks"): yield name, [getattr(datasets, name)(cache=False).u.values]
    yield "spiral", [u.values for u in spiral().data_vars.values()]
    channel = Channel(length=8, height=4, points=(64, 32), step=0.04, radius=0.4, edge=0.2, upstream=2.0)
    yield "wake", list(wake([(channel, 0.4)], np.linspace(1, 4, 7), np.linspace(-1, 1, 5), 3, 0.2))
    field = noisy()
    yield "noise", [field.u.values]
    yield "noise in chunks", [ubic.add_noise(datasets.burgers(cache=False).chunk(t=25), 30, seed=0).u.values]
    yield "ksvd", [ubic.denoise.ksvd(field).u.values]
    yield "savgol", [ubic.denoise.savgol(field, 11).u.values]
    yield "svd", [ubic.denoise.svd(field, 10).u.values]


def road():
    "From a library to a choice, and how sure it is."
    import ubic
    from ubic import bayes, library
    field, rng = noisy(), np.random.default_rng(0)
    system = library.weak(field, derivative_order=3)
    drawn = library.weak(field, form="pysindy", rows=800, derivative_order=3, seed=1)
    yield "weak", [system.R]
    yield "pysindy", [drawn.X, drawn.y]
    yield "strong", [library.strong(field).R]
    X = rng.standard_normal((300, 24))
    many = ubic.best_subsets(ubic.LinearSystem(X, X[:, :3].sum(axis=1) + rng.standard_normal(300)), 4)
    paths = {"many candidates": many} | {solver: ubic.best_subsets(system, solver=solver) for solver in SOLVERS}
    for name, path in paths.items(): yield name, [*map(np.array, path.supports), path.rss]
    chosen, slab = ubic.select(many), bayes.spike_slab(system, 0.1, seed=3)
    yield "select", [chosen.coef, chosen.std, chosen.ubic, np.array(chosen.lam)]
    yield "slab", [slab.pip, slab.coef]
    yield "ard", [bayes.ard(system).coef]
    yield "uwaic", [bayes.uwaic(many).uwaic]
    yield "cross-validation", [ubic.splits.cross_validate(drawn).table().select_dtypes(float).to_numpy()]


def answers():
    "The whole road, and what is asked of its end."
    import ubic
    found = ubic.discover(noisy())
    one = found["u"]
    lengths = np.array([len(term) for term in map(str, one.terms)])
    yield "discover", [lengths, np.array(one.support), one.coef, one.std, one.bic, one.ubic]
    yield "validate", [ubic.validate(found).table().select_dtypes(float).to_numpy()]


def optional():
    "What needs PyMC, nutpie or PyTorch, larger fields, and workers."
    import ubic
    from ubic import bayes, datasets, library
    system = library.weak(noisy(), derivative_order=2)
    short = dict(draws=100, tune=100, chains=2, cache=False)
    yield "horseshoe", [bayes.horseshoe(system, **short).coef]
    yield "slab by sampling", [bayes.spike_slab(system, 0.1, method="mcmc", **short).coef]
    thin = datasets.burgers().isel(x=slice(None, None, 4), t=slice(None, None, 4))
    network = ubic.pinn({"u_xx": 0.1, "u*u_x": -1.0}, thin, epochs=3, iterations=50)
    yield "pinn", [network.weights, network.xi, network.losses.to_numpy()]
    plane = ubic.add_noise(spiral(64, 61), 2, seed=0)
    one = ubic.discover(plane, "u", derivative_order=2, power=3)["u"]
    yield "discover in a plane", [np.array(one.support), one.coef, one.std]
    for name in ("reaction_diffusion", "gray_scott", "navier_stokes"):
        small = getattr(datasets, name)(size="small", cache=False)
        yield name, [u.values for u in small.data_vars.values()]


PARTS = {"quick": (fields, road, answers), "optional": (optional,)}


def computed(part):
    "All arrays of a part by name and number."
    for function in PARTS[part]:
        for name, arrays in function():
            for number, array in enumerate(arrays): yield f"{name}/{number}", np.asarray(array)


def compute(part):
    "All arrays by name; the global generator of NumPy must be found as it was left."
    np.random.seed(7)
    before = np.random.get_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dict(computed(part))
    assert all(map(np.array_equal, before, np.random.get_state())), "the global generator of NumPy was used"
    return found


def in_a_process(folder, part, threads, **environment):
    "Everything computed with so many threads by a process of its own."
    path = folder/f"{part} {threads} {len(environment)}.npz"
    settings = dict.fromkeys(THREADS, str(threads)) | {"PYTHONPATH": str(ROOT), "TQDM_DISABLE": "1"} | environment
    command = [sys.executable, __file__, part, path]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with np.load(path) as file: return dict(file)


def differences(one, other):
    "By name, how much differs that should not."
    assert set(one) == set(other)
    found = {}
    for key, values in one.items():
        again, name = other[key], key.split("/")[0]
        assert values.shape == again.shape and values.dtype == again.dtype, key
        if values.tobytes() == again.tobytes(): continue
        apart = np.nanmax(np.abs(values - again))/np.nanmax(np.abs(values))
        if not apart <= TOLERANCE.get(name, 0) or values.dtype.kind != "f": found[key] = apart
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory): return tmp_path_factory.mktemp("numbers")


@pytest.fixture(scope="module")
def one_thread(folder): return in_a_process(folder, "quick", 1)


def test_another_process_with_two_threads(one_thread, folder):
    assert differences(one_thread, in_a_process(folder, "quick", 2)) == {}


@pytest.mark.slow
def test_kernels_compiled_now_or_kept(one_thread, folder):
    for _ in range(2):
        again = in_a_process(folder, "quick", 1, NUMBA_CACHE_DIR=str(folder/"kernels"))
        assert differences(one_thread, again) == {}
    assert any((folder/"kernels").rglob("*.nbi"))


@pytest.mark.slow
def test_optional_parts_with_one_thread_twice_and_with_two(folder):
    for package in ("pymc", "nutpie", "torch"): pytest.importorskip(package, reason=f"this needs {package}")
    first = in_a_process(folder, "optional", 1)
    for threads in (1, 2): assert differences(first, in_a_process(folder, "optional", threads)) == {}


def test_no_source_draws_from_a_global_generator():
    "Only generators made from a seed, and no name of `random` of Python."
    allowed = {"Generator", "RandomState", "SeedSequence", "default_rng"}
    for path in (ROOT/"ubic").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert set(re.findall(r"np\.random\.(\w+)", text)) <= allowed, path.name
        other = r"^\s*(import random|from random|from numpy\.random|from numpy import random)"
        assert not re.search(other, text, re.M), path.name
        assert not re.search(r"default_rng\(\)|RandomState\(\)", text), f"{path.name} draws without a seed"


if __name__ == "__main__":
    part, path = sys.argv[1:]
    np.savez(path, **compute(part))
