"""All benchmarks in one run: a table of ratios, curves of cost against size, and what they were measured with.

usage: python -m benchmarks [--full] [group ...]
"""
import argparse
import importlib
import json
import os
import platform
import sys
import time
import warnings
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.harness import COLUMNS, results, say, write
from ubic.files import write_atomically

HERE = Path(__file__).resolve().parent
GROUPS = "library search denoise discovery bayes pinn memory".split()
PACKAGES = "ubic numpy scipy xarray pandas numba".split()
PEERS = "pysindy scikit-learn dictlearn abess gurobipy pyscipopt pymc nutpie torch dask".split()
SHOWN = "name peer ours_s peer_s ratio ratio_low ratio_high".split()


def installed(package):
    try: return version(package)
    except PackageNotFoundError: return "not installed"


def processor():
    "Its name, as the system tells it."
    try: lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError: return platform.processor()
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def environment(full):
    "What the numbers depend on: interpreter, packages, processor, threads, and what else it was doing."
    return {
        "full": full,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": processor(),
        "cores": os.cpu_count(),
        "load before": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "BLAS threads": max((pool["num_threads"] for pool in threadpool_info()), default=1),
        "packages": {package: installed(package) for package in PACKAGES},
        "peers": {package: installed(package) for package in PEERS},
        "measured": {},
    }


def read(file): return pd.read_csv(file) if file.exists() else pd.DataFrame()


class Run:
    "Tables in a folder that grow group by group; rows of groups that are not measured again stay."
    def __init__(self, folder, full, groups):
        self.folder, self.full, self.failed = folder, full, []
        self.about, file = environment(full), folder/"environment.json"
        before = json.loads(file.read_text(encoding="utf-8")).get("measured", {}) if file.exists() else {}
        self.about["measured"] = {group: when for group, when in before.items() if group not in groups}
        table = read(folder/"results.csv")
        self.rows = [row for row in table.to_dict("records") if row.get("group") not in {None, *groups}]

    def jobs(self, group):
        module = group if group == "scaling" else f"bench_{group}"
        return results(importlib.import_module(f"benchmarks.{module}").jobs(self.full), self.failed)

    def compare(self, group):
        for row in self.jobs(group):
            self.rows.append({"group": group, **row})
            say(f"{row['ratio']:9.3g}  {row['name']} / {row['peer']}")
            table = pd.DataFrame(self.rows, columns=COLUMNS)
            ordered = table.sort_values("group", key=lambda names: names.map(GROUPS.index), kind="stable")
            write(ordered, self.folder/"results.csv")

    def scale(self):
        rows = []
        for curve in self.jobs("scaling"):
            rows += curve
            say(f"{curve[0]['exponent']:9.2f}  {curve[0]['stage']} against {curve[0]['against']}")
            write(pd.DataFrame(rows), self.folder/"scaling.csv")

    def measure(self, group):
        start = time.perf_counter()
        if group == "scaling": self.scale()
        else: self.compare(group)
        self.about["measured"][group] = f"{date.today()}, {time.perf_counter() - start:.0f} s"
        about = json.dumps(self.about, indent=1, ensure_ascii=False) + "\n"
        write_atomically(self.folder/"environment.json", lambda file: file.write(about.encode()))


def main():
    known = ", ".join([*GROUPS, "scaling"])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "groups",
        nargs="*",
        metavar="group",
        default=GROUPS + ["scaling"],
        help=f"measure these only, and keep the rest of the tables: {known}",
    )
    parser.add_argument(
        "--full",
        action="store_true",
        help="full sizes, for the tables of the project in benchmarks; otherwise small ones, for out/benchmarks",
    )
    args = parser.parse_args()
    unknown = set(args.groups) - {*GROUPS, "scaling"}
    if unknown: parser.error(f"there is no group {', '.join(sorted(unknown))}; groups are {known}")
    folder = HERE if args.full else HERE.parent/"out"/"benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_NUM_THREADS"] = "1" # of processes that are started
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        run = Run(folder, args.full, args.groups)
        for group in args.groups: run.measure(group)
    if run.rows:
        table = pd.DataFrame(run.rows, columns=COLUMNS)[SHOWN]
        print(table.to_string(index=False, float_format=lambda value: f"{value:.3g}"))
    written = f"\nWritten to {folder.relative_to(HERE.parent)}: results.csv, scaling.csv, environment.json"
    print(written + f"; {len(run.failed)} failed"*bool(run.failed))
    return int(bool(run.failed))


if __name__ == "__main__": sys.exit(main())
