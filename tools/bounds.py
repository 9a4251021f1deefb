"""Test with the lowest versions that settings.ini allows, or with the newest, in an environment of its own:
`make lowest`, `make newest`.

What was tried is kept in tests/bounds.json. PyTorch stays at the build that the Makefile names, because others bring
gigabytes for graphics cards; what pip alone cannot install is left out.
"""
import argparse
import json
import os
import subprocess
import sys
import venv
import xml.etree.ElementTree as xml
from datetime import date
from pathlib import Path

from packaging.utils import canonicalize_name

from generated import ROOT
from licenses import declared

RECORD = ROOT / "tests" / "bounds.json"
BY_HAND = {"dedalus", "pysr", "peers", "foreign"} # extras that are not in `all`
FACTS = """
import json, platform, sys
from importlib.metadata import version
versions = {name: version(name) for name in sys.argv[1:]}
print(json.dumps({"python": platform.python_version(), "versions": versions}))
"""


def requirements():
    "What the core and the extras ask for on this machine, except the extras that are installed by hand."
    listed = [one for group, some in sorted(declared().items()) if group not in BY_HAND for one in some]
    return {canonicalize_name(one.name): one for one in listed if one.marker is None or one.marker.evaluate()}


def lowest(requirement):
    "The lower bound of a requirement, or nothing."
    return next((part.version for part in requirement.specifier if part.operator in (">=", "==")), None)


def constraints(torch):
    "The lower bounds as constraints for pip; PyTorch as told."
    bounds = {name: lowest(one) for name, one in requirements().items() if name != "torch"}
    return [torch] + [f"{name}=={bound}" for name, bound in sorted(bounds.items()) if bound]


def install(folder, limits):
    "Make an environment, or renew it, with all packages within some constraints; return its Python."
    if not folder.exists(): venv.create(folder, with_pip=True)
    python, listed = folder / "bin" / "python", folder / "constraints.txt"
    listed.write_text("\n".join(limits) + "\n", encoding="utf-8")
    options = ["-q", "--disable-pip-version-check", "-U", "--upgrade-strategy", "eager", "-c", listed]
    subprocess.run([python, "-m", "pip", "install", *options, "-e", f"{ROOT}[all]"], check=True)
    return python


def passed(python, jobs, report):
    "Run the tests of the package; return how many passed and how many were skipped, or stop."
    settings = os.environ | {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    options = ["-q", "-n", str(jobs), "--dist", "worksteal", f"--junitxml={report}"]
    command = [python, "-m", "pytest", *options, ROOT / "tests" / "modules"]
    done = subprocess.run(command, cwd=ROOT, env=settings, stdin=subprocess.DEVNULL)
    if done.returncode: sys.exit(done.returncode)
    told = xml.parse(report).getroot().find("testsuite").attrib
    return {"passed": int(told["tests"]) - int(told["skipped"]), "skipped": int(told["skipped"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("end", choices=["lowest", "newest"])
    parser.add_argument("--torch", default="torch==2.13.0", help="the build of PyTorch (torch==2.13.0)")
    parser.add_argument("--jobs", type=int, default=2, help="how many tests at a time (2)")
    args = parser.parse_args()
    folder = ROOT / f".venv-{args.end}"
    python = install(folder, constraints(args.torch) if args.end == "lowest" else [args.torch])
    counts = passed(python, args.jobs, folder / "tests.xml")
    asked = [python, "-c", FACTS, *sorted(requirements())]
    told = json.loads(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    record[args.end] = {"date": str(date.today()), **counts, **told}
    RECORD.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__": main()
