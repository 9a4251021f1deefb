"""What stands behind the package: the lines that run, the versions that were tried, the licenses of what it needs."""
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import bounds
import covered
import house
import licenses
from generated import EXPORTED, find_notebooks, read_cells, text


def read(name): return (ROOT / name).read_text(encoding="utf-8")


def told(name): return json.loads(read(f"tests/{name}.json"))


# --- coverage -----------------------------------------------------------------------------------------------------

LESSON = {
    "a1": "#| default_exp lesson",
    "b2": "#| export\nimport math\nfrom tiny.other import double",
    "c3": "#| export\ndef half(x):\n    if x < 0:\n        return 'never'\n    return math.floor(double(x)/4)",
    "d4": "assert half(3) == 1",
    "e5": "#| export\ndef unused():\n    'Nobody calls this.'\n    return 'never'",
    "f6": "#| slow\nunused()",
}
OTHER = {
    "a1": "#| default_exp other",
    "b2": "#| export\ndef double(x):\n    if x == 'never': return x\n    return 2*x",
}
CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
KERNEL = {"name": "python3", "language": "python", "display_name": "Python 3"}


def run(*command, cwd):
    "Run a command without the measurement around it, if there is one; return what it said."
    outside = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    alone = outside | {"PYTHONPATH": str(cwd)}
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=alone, **quiet)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def write_notebook(path, cells):
    listed = [CELL | {"id": name, "source": source} for name, source in cells.items()]
    notebook = {"cells": listed, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    "A project with two notebooks and the package that they export."
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "nbs").mkdir()
    settings = re.sub(r"(?m)^(lib_name|lib_path) = .*", r"\1 = tiny", read("settings.ini"))
    (folder / "settings.ini").write_text(settings, encoding="utf-8")
    write_notebook(folder / "nbs" / "00_other.ipynb", OTHER)
    write_notebook(folder / "nbs" / "01_lesson.ipynb", LESSON)
    run(Path(sys.executable).with_name("nbdev_export"), cwd=folder)
    return folder


def test_a_notebook_covers_the_lines_of_its_module(tiny):
    coverage = sys.executable, "-m", "coverage"
    covering = ROOT / "tools" / "covered.py", "--run", "nbs/01_lesson.ipynb"
    run(*coverage, "run", "--source=tiny", "--omit=*/_modidx.py", *covering, cwd=tiny)
    run(*coverage, "json", cwd=tiny)
    files = json.loads((tiny / "coverage.json").read_text(encoding="utf-8"))["files"]
    missed = {}
    for file, module in files.items():
        lines = (tiny / file).read_text(encoding="utf-8").splitlines()
        missed[Path(file).stem] = [lines[number - 1].strip() for number in module["missing_lines"]]
    first = "__all__ = ['half', 'unused']" # is nbdev's, and runs on import
    assert missed["lesson"] == [first, "return 'never'", "return 'never'"] and missed["other"] == []
    assert files["tiny/lesson.py"]["summary"]["num_statements"] == 9


def test_a_notebook_that_fails_is_told(tiny):
    write_notebook(tiny / "nbs" / "02_wrong.ipynb", {"a1": "assert 1 == 2"})
    command = [sys.executable, ROOT / "tools" / "covered.py", "--run", "nbs/02_wrong.ipynb"]
    done = subprocess.run(command, cwd=tiny, capture_output=True, text=True)
    (tiny / "nbs" / "02_wrong.ipynb").unlink()
    assert done.returncode == 1 and "assert 1 == 2" in done.stderr


def test_every_exported_cell_has_its_place():
    found = covered.places(ROOT / "ubic")
    for path in find_notebooks():
        for cell in read_cells(path):
            if cell["cell_type"] != "code" or not EXPORTED.search(text(cell["source"])): continue
            file, before = found.pop((path, cell["id"]))
            lines = text(cell["source"]).splitlines()
            source = [line for line in lines if not re.match(r"#\|\s*(export|default_exp)", line)]
            module = Path(file).read_text(encoding="utf-8").splitlines()[before:before + len(source)]
            differing = [ours for ours, theirs in zip(source, module, strict=True) if ours != theirs]
            assert all(re.match(r"\s*from ubic\b", line) for line in differing), differing
    assert found == {}


def test_kept_coverage_is_of_these_modules_and_high_enough():
    kept = told("coverage")
    rooms = {room.removeprefix("ubic.") for room in house.rooms()}
    assert set(kept["modules"]) == rooms, "`make coverage` measures it again"
    for kind in ("statements", "missed"):
        assert sum(row[kind] for row in kept["modules"].values()) == kept["total"][kind]
    assert kept["total"]["percent"] >= covered.LEAST
    assert min(row["percent"] for row in kept["modules"].values()) >= 85


def test_table_of_coverage_ends_with_the_total():
    lines = covered.table(told("coverage")).splitlines()
    assert lines[-1].split()[0] == "total" and len(lines) == 2 + len(told("coverage")["modules"])
    assert sorted(shares := [float(line.split()[-1]) for line in lines[1:-1]]) == shares


# --- versions -----------------------------------------------------------------------------------------------------

def test_lower_bounds_become_constraints():
    limits = bounds.constraints("torch==1.2.3")
    named = {line.partition("==")[0] for line in limits}
    assert limits[0] == "torch==1.2.3" and len(limits) == len(named)
    assert "numpy==2.0.2" in limits and "arviz==0.20" in limits
    assert not {"dedalus", "pysr", "gurobipy"} & named


def test_every_package_of_the_core_has_a_lower_bound():
    assert [str(one) for one in licenses.declared()["core"] if bounds.lowest(one) is None] == []


def test_what_is_tried_is_what_the_set_up_installs(monkeypatch):
    told = {}
    monkeypatch.setattr("setuptools.setup", lambda **settings: told.update(settings))
    runpy.run_path(str(ROOT / "setup.py"))
    installed = [Requirement(one) for one in told["install_requires"] + told["extras_require"]["all"]]
    here = [one for one in installed if one.marker is None or one.marker.evaluate()]
    assert {canonicalize_name(one.name) for one in here} == set(bounds.requirements())


def test_lowest_versions_that_were_tried_are_the_declared_ones():
    tried = told("bounds")["lowest"]["versions"]
    untried = []
    for name, one in bounds.requirements().items():
        bound, seen = bounds.lowest(one), tried.get(name)
        if name == "torch" or not bound: continue
        if Version(tried.get(name, "0")) != Version(bound): untried.append(f"{one}, tried: {seen}")
    assert untried == [], "`make lowest` tries them"


@pytest.mark.parametrize("end", ["lowest", "newest"])
def test_versions_that_were_tried_are_allowed(end):
    kept = told("bounds")[end]
    assert kept["passed"] > 500 and set(kept["versions"]) == set(bounds.requirements())
    wanted = bounds.requirements().items()
    assert [name for name, one in wanted if not one.specifier.contains(kept["versions"][name])] == []


def test_newest_versions_are_not_below_the_lowest():
    low, new = (told("bounds")[end]["versions"] for end in ("lowest", "newest"))
    assert [name for name in low if Version(low[name]) > Version(new[name])] == []
    assert sum(Version(low[name]) < Version(new[name]) for name in low) > 20


# --- licenses -----------------------------------------------------------------------------------------------------

def listed(section):
    "The rows of a table of LICENSES.md: license and extras of each package, and whether it is in bold."
    table = read("LICENSES.md").partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")][1:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    found = {}
    for name, license, *extras in rows:
        needing = re.findall(r"`(\w+)`", "".join(extras))
        found[name.strip("*")] = {"license": license, "extras": needing, "bold": name.startswith("**")}
    return found


COPYLEFT = [
    ("GPL-3.0", True),
    ("AGPL-3.0-only", True),
    ("Public domain AND BSD AND GPL", True),
    ("GPL-2.0-only WITH Classpath-exception-2.0", False),
    ("MIT OR GPL-2.0", False),
    ("LGPL", False),
    ("BSD-3-Clause", False),
]


@pytest.mark.parametrize("license, copyleft", COPYLEFT)
def test_what_counts_as_copyleft(license, copyleft):
    assert licenses.is_copyleft(license) == copyleft


def test_no_package_of_the_core_is_under_the_gpl():
    core = listed("The core")
    def binds(license): return licenses.is_copyleft(license) or license in ("unknown", "Proprietary")
    assert [name for name, row in core.items() if binds(row["license"])] == []
    wanted = licenses.declared()["core"]
    found = licenses.reached(wanted)
    installed = {name: licenses.license_of(package) for name, package in found.items() if package}
    assert {canonicalize_name(one.name) for one in wanted} <= set(installed)
    assert {name: license for name, license in installed.items() if licenses.is_copyleft(license)} == {}


def test_list_of_licenses_names_all_that_the_settings_name():
    core, extras = listed("The core"), listed("The extras")
    wanted = {}
    for group, requirements in licenses.declared().items():
        for one in requirements: wanted.setdefault(canonicalize_name(one.name), set()).add(group)
    assert {name for name, row in (core | extras).items() if row["bold"]} == set(wanted), "`make licenses` lists them"
    of_the_core = {name for name, groups in wanted.items() if "core" in groups}
    assert {name for name in core if core[name]["bold"]} == of_the_core
    assert [name for name, row in extras.items() if not wanted.get(name, set()) <= set(row["extras"])] == []
    assert [name for name, row in extras.items() if "unknown" in row["license"]] == []


def test_licenses_that_bind_are_told_alike_everywhere():
    extras, page, front = listed("The extras"), read("LICENSES.md"), read("README.md")
    assert extras["abess"] | {"bold": True} == {"license": "GPL-3.0", "extras": ["peers"], "bold": True}
    assert extras["gurobipy"]["extras"] == ["peers"] and extras["gurobipy"]["license"] == "Proprietary"
    peers = next(line for line in front.splitlines() if line.startswith("| `peers`"))
    assert "abess (GPL)" in peers and "Gurobi (proprietary)" in peers
    bullets = {kind: page.partition(f"- {kind}")[2].partition("\n")[0] for kind in ("GPL,", "Proprietary:")}
    assert "abess (GPL-3.0; `peers`)" in bullets["GPL,"]
    assert "gurobipy (Proprietary; `peers`)" in bullets["Proprietary:"]
    binding = {name for name, row in extras.items() if licenses.is_copyleft(row["license"])}
    assert binding == set(re.findall(r"([\w-]+) \(", bullets["GPL,"]))


# --- commands -----------------------------------------------------------------------------------------------------

def test_commands_that_the_texts_name_exist():
    targets = set(re.findall(r"(?m)^([a-z-]+):.*## ", read("Makefile")))
    pages = ("CONTRIBUTING.md", "README.md", "CHANGELOG.md", "LICENSES.md")
    named = {page: set(re.findall(r"`make ([a-z-]+)`", read(page))) for page in pages}
    assert {page: names - targets for page, names in named.items() if names - targets} == {}
    assert {"coverage", "lowest", "newest", "licenses"} <= named["CONTRIBUTING.md"]
