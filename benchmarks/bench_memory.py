"""Time and peak of memory of libraries that are made piece by piece, beside the same with everything in memory.

Linux only. Each measurement is a process of its own, so that its peak is its own:
python -m benchmarks.bench_memory TASK HOW ARGUMENT...
"""
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness import Measured, apart, compare

ROOT = Path(__file__).resolve().parent.parent
TERMS = "u u^2 u_x u_y u_xx u_yy u*u_x u*u_y".split()


def peak_kilobytes():
    "Of this process since it began; `getrusage` would begin with the peak of the parent."
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def watched(function):
    "Seconds, megabytes above what was there before, and the triangle of a system, in a form that can be printed."
    start, before = time.perf_counter(), peak_kilobytes()
    R = function()
    return {"seconds": time.perf_counter() - start, "MB": (peak_kilobytes() - before)/1024, "R": np.abs(R).tolist()}


def write_waves(path, n, frames):
    "A field of drifting, decaying waves, written chunk by chunk."
    import dask.array as da
    import xarray as xr
    from ubic.files import save_field
    c = np.linspace(0, 2*np.pi, n)
    def block(t):
        t = t[0, 0]
        def wave(k):
            phase = k*(c[:, None, None] - 0.3*t) + np.cos(c)[None, :, None] + k
            return np.exp(-0.002*k*k*t)*np.sin(phase)
        return sum(wave(k) for k in (1, 2, 3))
    t = da.arange(frames, chunks=16)*0.2
    u = t[None, None].map_blocks(block, dtype=float, chunks=((n,), (n,), t.chunks[0]))
    axes = {"x": c, "y": c, "t": 0.2*np.arange(frames)}
    save_field(xr.Dataset({"u": (("x", "y", "t"), u)}, axes), path)


def weak_of_store(how, path):
    "The weak library of a field in a store, chunk by chunk or loaded before."
    import ubic
    small = ubic.datasets.burgers().u.values[:64, :64]
    ubic.library.weak(ubic.as_field(small, dims=("x", "t"), x=range(64), t=range(64))) # compiled beforehand
    def field():
        if how == "pieces": return ubic.load(path, chunks={"t": 16})
        return ubic.load(path).load() # without `.load()` a store is read only where it is looked at
    return watched(lambda: ubic.library.weak(field(), terms=TERMS).R)


def strong_of_wake(how, *sizes):
    "The strong library of a field like the paper's wake, tile by tile or as one table."
    from ubic.field import as_field, spacing
    from ubic.library import difference, strong
    from ubic.recipes import paper_terms
    from ubic.system import triangle
    from ubic.terms import evaluate, parse_term
    x, y, t = (np.linspace(0, end, int(size)) for end, size in zip((6.5, 3.4, 30), sizes))
    def wave(k):
        moving = np.sin(k*x[:, None, None] - 0.5*k*t)*np.cos(y[:, None])
        return moving + 0.1*np.sin(3*x[:, None, None] + k*y[:, None])
    waves = {"w": wave(1), "u": wave(2), "v": wave(3)}
    field = as_field(waves, dims=("x", "y", "t"), x=x, y=y, t=t)
    terms = paper_terms["navier_stokes"]
    def derivative(name, axes):
        step, axis = spacing(field, axes[0]), "xyt".index(axes[0])
        return difference(field[name].values, step, len(axes), axis, 4)
    def table():
        values = {name: field[name].values for name in field.data_vars}
        columns = [evaluate(parse_term(term), values, derivative).ravel() for term in [*terms, "w_t"]]
        return triangle(np.stack(columns, axis=1))
    strong(field.isel(t=slice(0, 15)), "w", terms=terms) # compiled beforehand
    return watched(table if how == "whole" else lambda: strong(field, "w", terms=terms).R)


def measure(task, how, *arguments):
    command = [sys.executable, "-m", "benchmarks.bench_memory", task, how, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if run.returncode: raise RuntimeError(run.stderr)
    done = json.loads(run.stdout.splitlines()[-1])
    return Measured(done["seconds"], done)


def pieces_or_whole(name, peer, task, *arguments):
    def agreement(mine, theirs):
        difference = apart(mine["R"], np.array(theirs["R"]))
        return f"largest difference {difference:.0e}; peaks {mine['MB']:.0f} and {theirs['MB']:.0f} MB"
    def ours(): return measure(task, "pieces", *arguments)
    def other(): return measure(task, "whole", *arguments)
    return compare(name, peer, ours, other, agreement, repeats=3)


def store(n, frames):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)/"field.zarr"
        write_waves(path, n, frames)
        name = f"weak library of a store of {8*n*n*frames/2**20:.0f} MB"
        return pieces_or_whole(name, "loaded into memory", "weak_of_store", path)


def wake(*sizes):
    name = f"strong library of {np.prod(sizes)} rows and 19 candidates, tile by tile"
    return pieces_or_whole(name, "as one table", "strong_of_wake", *sizes)


def jobs(full):
    for frames in (256, 1024, 4096) if full else (64, 256): yield partial(store, 256 if full else 96, frames)
    yield partial(wake, *((325, 170, 151) if full else (80, 60, 60)))


if __name__ == "__main__": print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
