"""All benchmarks in one run and one table.  usage: python -m benchmarks [--full]"""
import argparse
import importlib
import inspect
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent
PACKAGES = "ubic numpy scipy xarray pandas numba scikit-learn pysindy dictlearn findiff torch".split()
SAME_COLUMN = {"max_difference": "agreement", "difference": "agreement"}


def collect(module, full):
    "The table of one benchmark module, with the column names all of them share."
    main = importlib.import_module(f"benchmarks.{module}").main
    table = main(quick=False) if full and "quick" in inspect.signature(main).parameters else main()
    return table.rename(columns=lambda column: column.replace(" ", "_")).rename(columns=SAME_COLUMN)


def environment():
    "What the numbers depend on: interpreter, packages, processor."
    return {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine(), "cpu_count": os.cpu_count(),
            "threads": os.environ.get("OMP_NUM_THREADS", "default"), "packages": {package: version(package) for package in PACKAGES}}


def write(name, content):
    "Write a file of results in one step."
    fresh = HERE / f"{name}.new"
    fresh.write_text(content, encoding="utf-8")
    os.replace(fresh, HERE / name)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="All benchmarks in one run and one table.")
    parser.add_argument("--full", action="store_true", help="the larger sizes, where a benchmark has them")
    full = parser.parse_args().full
    tables = []
    for module in sorted(path.stem for path in HERE.glob("bench_*.py")):
        start = time.perf_counter()
        tables.append(collect(module, full))
        print(f"{module}: {len(tables[-1])} comparisons in {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    table = pd.concat(tables, ignore_index=True)
    write("results.csv", table.to_csv(index=False, float_format="%.4g"))
    write("environment.json", json.dumps(environment(), indent=1) + "\n")
    print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    print(f"\nWritten to {HERE.name}/results.csv and {HERE.name}/environment.json")


if __name__ == "__main__": main()
