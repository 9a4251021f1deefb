"""How much of the package runs when tests and notebooks run: `make coverage`.

An exported cell is a part of a module. Notebooks are run here as nbdev runs them, but with the lines of exported cells
counted as lines of their modules.
"""
import argparse
import ast
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

import nbdev.test
from execnb.shell import CaptureShell
from IPython.core.compilerop import CachingCompiler
from nbdev.config import get_config

import house
from generated import ROOT, find_notebooks

MARKER = re.compile(r"# %% (.+\.ipynb) #(\w+)$")
FOLDER, RECORD = ROOT / "out" / "coverage", ROOT / "tests" / "coverage.json"
LEAST = 90 # percent of all statements
# they stop processes at any moment, or run what is not the package; notebooks are run here
LEFT_OUT = ["tests/promises/test_faults.py", "tests/project/test_gates.py", "tests/project/test_site.py"]


def places(package):
    "For each exported cell, by notebook and name: the file of its module, and how many lines there are before it."
    found = {}
    for file in sorted(package.rglob("*.py")):
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if marker := MARKER.match(line): found[(file.parent / marker[1]).resolve(), marker[2]] = str(file), number
    return found


class Compiler(CachingCompiler):
    "A compiler of cells for which a cell can be a part of a file."
    place = None

    def cache(self, transformed_code, number=0, raw_code=None):
        return self.place[0] if self.place else super().cache(transformed_code, number, raw_code)

    def ast_parse(self, *source, **names):
        tree = super().ast_parse(*source, **names)
        return ast.increment_lineno(tree, self.place[1]) if self.place else tree


class Shell(CaptureShell):
    "A shell that runs each exported cell of a notebook as a part of its module."
    compiler_class = Compiler

    def __init__(self, path):
        self.notebook, self.places = Path(path).resolve(), places(get_config().lib_path)
        super().__init__(path)

    def cell(self, cell, **options):
        self.compile.place = self.places.get((self.notebook, cell.get("id")))
        try: super().cell(cell, **options)
        finally: self.compile.place = None


def run_notebook(path):
    "Run a notebook as `nbdev_test` does; tell whether all went well."
    nbdev.test.CaptureShell = Shell
    config = get_config()
    return nbdev.test.test_nb(Path(path).resolve(), skip_flags=config.tst_flags.split(), basepath=config.config_path)[0]


def measure(*command):
    "Run a Python program, and count what it and its own processes run; tell whether all went well."
    settings = os.environ | {"COVERAGE_FILE": str(FOLDER / "data"), "TQDM_DISABLE": "1"}
    measured = [sys.executable, "-m", "coverage", "run", *command]
    return subprocess.run(measured, cwd=ROOT, stdin=subprocess.DEVNULL, env=settings).returncode == 0


def run(paths, jobs):
    "Run tests, and notebooks one after the other; return those that failed."
    notebooks = [path for path in paths if Path(path).suffix == ".ipynb"]
    tests = [path for path in paths if path not in notebooks]
    ignored = [f"--ignore={path}" for path in LEFT_OUT]
    options = ["-q", "-n", str(jobs), "--dist", "worksteal", *ignored]
    failed = [] if not tests or measure("-m", "pytest", *options, *tests) else ["a test"]
    for path in notebooks:
        print(os.path.relpath(path, ROOT), flush=True)
        if not measure(__file__, "--run", str(path)): failed.append(os.path.relpath(path, ROOT))
    return failed


def facts():
    "What all runs together have counted: statements, missed ones and percent, for each module and in total."
    coverage = [sys.executable, "-m", "coverage"]
    quiet = dict(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run([*coverage, "combine", "-q", "--append"], cwd=ROOT, **quiet) # fails when nothing is new
    told = subprocess.run([*coverage, "json", "-q", "-o", str(FOLDER / "coverage.json")], cwd=ROOT)
    if told.returncode: sys.exit("Nothing has been measured.")
    told = json.loads((FOLDER / "coverage.json").read_text(encoding="utf-8"))
    def row(summary):
        counted = {"statements": summary["num_statements"], "missed": summary["missing_lines"]}
        return {**counted, "percent": round(summary["percent_covered"], 1)}

    rooms = {str(path.relative_to(ROOT)): room.removeprefix("ubic.") for room, path in house.rooms().items()}
    files = {file: module["summary"] for file, module in sorted(told["files"].items()) if file in rooms}
    modules = {rooms[file]: row(summary) for file, summary in files.items()}
    measured_with = {"python": platform.python_version(), "coverage": version("coverage")}
    return {"date": str(date.today()), **measured_with, "total": row(told["totals"]), "modules": modules}


def table(told):
    "The facts as lines of text, the least covered module first."
    rows = sorted(told["modules"].items(), key=lambda row: row[1]["percent"]) + [("total", told["total"])]
    head = f"{'module':20} {'statements':>10} {'missed':>7} {'percent':>8}"
    def line(name, row): return f"{name:20} {row['statements']:10} {row['missed']:7} {row['percent']:8.1f}"
    return "\n".join([head, *(line(*row) for row in rows)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", help="tests and notebooks (all of them)")
    parser.add_argument("--jobs", type=int, default=2, help="how many tests at a time (2)")
    parser.add_argument("--add", action="store_true", help="add the given ones to what has been measured before")
    parser.add_argument("--record", action="store_true", help=f"keep the result in {RECORD.relative_to(ROOT)}")
    parser.add_argument("--run", metavar="NOTEBOOK", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run: return int(not run_notebook(args.run))
    if not args.add: shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    failed = run(args.paths or ([] if args.add else ["tests", *find_notebooks()]), args.jobs)
    told = facts()
    print(table(told))
    if args.record: RECORD.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if failed: print(f"Failed, and counted as far as they went: {', '.join(failed)}.")
    if told["total"]["percent"] < LEAST: print(f"Less than {LEAST} % of the statements have run.")
    return int(bool(failed) or told["total"]["percent"] < LEAST)


if __name__ == "__main__": sys.exit(main())
