"""Peak memory of the library of a field in a store, while its record grows, beside the same in memory.  usage: python -m benchmarks.bench_memory [--full]"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.bench_core import row

CHILD = """
import json, sys, time
import ubic
from benchmarks.bench_memory import peak_kilobytes
from ubic import library
path, chunked, terms = sys.argv[1], sys.argv[2] == "chunks", sys.argv[3].split()
library.weak(ubic.as_field(ubic.datasets.burgers().u.values[:64, :64], dims=("x", "t"), x=range(64), t=range(64))) # compiled beforehand
start, before = time.perf_counter(), peak_kilobytes()
system = library.weak(ubic.load(path, chunks={"t": 16} if chunked else None), terms=terms)
print(json.dumps({"seconds": time.perf_counter() - start, "MB": (peak_kilobytes() - before)/1024, "R": abs(system.R).tolist()}))
"""
TERMS = "u u^2 u_x u_y u_xx u_yy u*u_x u*u_y".split()


def peak_kilobytes():
    "Of this process since it began; `getrusage` would begin with the peak of the parent. Linux only."
    return int(next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")).split()[1])


def write(path, n, frames):
    "A field of drifting, decaying waves, written chunk by chunk."
    import dask.array as da
    import xarray as xr
    from ubic.field import save_field
    c = np.linspace(0, 2*np.pi, n)
    def block(t):
        t = t[0, 0]
        return sum(np.exp(-0.002*k*k*t)*np.sin(k*(c[:, None, None] - 0.3*t) + np.cos(c)[None, :, None] + k) for k in (1, 2, 3))
    t = da.arange(frames, chunks=16)*0.2
    u = t[None, None].map_blocks(block, dtype=float, chunks=((n,), (n,), t.chunks[0]))
    save_field(xr.Dataset({"u": (("x", "y", "t"), u)}, {"x": c, "y": c, "t": 0.2*np.arange(frames)}), path)


def measure(path, how):
    "A process of its own, so that its peak is its own."
    run = subprocess.run([sys.executable, "-c", CHILD, str(path), how, " ".join(TERMS)], capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])


WAKE = """
import json, time
import numpy as np
from benchmarks.bench_memory import peak_kilobytes
from ubic.field import as_field
from ubic.library import strong
from ubic.recipes import paper_terms
x, y, t = np.linspace(0, 6.5, {0}), np.linspace(0, 3.4, {1}), 0.2*np.arange({2})
def wave(k): return np.sin(k*x[:, None, None] - 0.5*k*t)*np.cos(y[:, None]) + 0.1*np.sin(3*x[:, None, None] + k*y[:, None])
ds = as_field({{"w": wave(1), "u": wave(2), "v": wave(3)}}, dims=("x", "y", "t"), x=x, y=y, t=t)
strong(ds.isel(t=slice(0, 15)), "w", terms=paper_terms["navier_stokes"])
before, start = peak_kilobytes(), time.perf_counter()
system = strong(ds, "w", terms=paper_terms["navier_stokes"])
print(json.dumps({{"seconds": time.perf_counter() - start, "MB": (peak_kilobytes() - before)/1024, "rows": system.n}}))
"""


def wake(quick):
    "The strong library of a field of the size of the paper's wake: 19 candidates, as many rows as points."
    run = subprocess.run([sys.executable, "-c", WAKE.format(*((80, 60, 60) if quick else (325, 170, 151)))], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout.splitlines()[-1])
    return {"name": f"strong library of {found['rows']} rows and 19 candidates, peak {found['MB']:.0f} MB above the field / table of {8*20*found['rows']/2**20:.0f} MB", "ours_s": found["seconds"]}


def main(quick=True):
    n, base, rows = (96, 32, []) if quick else (256, 64, [])
    with tempfile.TemporaryDirectory() as folder:
        for factor in (1, 2, 4, 8, 16):
            path = Path(folder)/f"{factor}.zarr"
            write(path, n, base*factor)
            lazy, whole = measure(path, "chunks"), measure(path, "memory")
            R, other = np.array(lazy["R"]), np.array(whole["R"])
            name = f"weak library of a store of {8*n*n*base*factor/2**20:.0f} MB, peak {lazy['MB']:.0f} MB / loaded, peak {whole['MB']:.0f} MB"
            rows.append(row(name, lazy["seconds"], whole["seconds"], f"largest difference {np.abs(R - other).max()/other.max():.1e}"))
    return pd.DataFrame([*rows, wake(quick)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="larger fields")
    print(main(quick=not parser.parse_args().full).to_string())
