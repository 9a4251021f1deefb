"""The wheel, built from the tracked files and installed alone.

It holds the whole package and its data, and every module can be imported from it.
"""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytest.importorskip("setuptools", reason="nothing builds wheels here")
pytest.importorskip("pip", reason="nothing installs wheels here")


def pip(*arguments, cwd):
    "Run pip without the network and without what surrounds this process."
    surrounding = ("COVERAGE", "PIP_", "PYTHONPATH")
    alone = {name: value for name, value in os.environ.items() if not name.startswith(surrounding)}
    alone |= {"PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_CONFIG_FILE": os.devnull}
    command = [sys.executable, "-m", "pip", *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=alone)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def tracked():
    "What git keeps."
    if not shutil.which("git"): pytest.skip("this is no working copy of git")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode: pytest.skip("this is no working copy of git")
    return [name for name in listed.stdout.split("\0") if name]


@pytest.fixture(scope="module")
def source(tracked, tmp_path_factory):
    "A copy of the tracked files, so that nothing else of this folder can get into a build, nor help it."
    folder = tmp_path_factory.mktemp("source")
    for name in tracked:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, source, cwd=folder)
    built, = folder.iterdir()
    return built


def test_the_source_archive_holds_all_but_the_tools_of_git(source, tracked, tmp_path):
    command = [sys.executable, "setup.py", "-q", "sdist", "--dist-dir", tmp_path]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    archive, = tmp_path.iterdir()
    with tarfile.open(archive) as file: held = {name.partition("/")[2] for name in file.getnames()}
    assert set(tracked) - held == {".ci/run", ".gitignore", ".pre-commit-config.yaml"}


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    "An empty folder with the wheel installed."
    folder = tmp_path_factory.mktemp("installed")
    pip("install", "--no-deps", "--no-compile", "--target", folder, wheel, cwd=folder)
    return folder


def test_the_wheel_holds_the_package_and_nothing_else(wheel, tracked):
    with zipfile.ZipFile(wheel) as archive: names = archive.namelist()
    held = {name for name in names if ".dist-info/" not in name}
    assert held == {name for name in tracked if name.startswith("ubic/")}
    assert {"ubic/__init__.py", "ubic/published.csv", "ubic/py.typed"} <= held


LOOK = """
import importlib, importlib.metadata, importlib.resources, json, pkgutil, sys
sys.path[:0] = {paths!r}
import ubic
told = {{"file": ubic.__file__, "version": ubic.__version__, "modules": {{}}}}
for module in pkgutil.walk_packages(ubic.__path__, "ubic."):
    try: found = importlib.import_module(module.name)
    except ImportError as error: told["modules"][module.name] = ["", str(error)]
    else: told["modules"][module.name] = [found.__file__, ""]
told["csv"] = importlib.resources.files("ubic").joinpath("published.csv").read_text(encoding="utf-8")
told["numbers"] = len(ubic.recipes.published_numbers())
found, = importlib.metadata.distributions(name="ubic", path=[{folder!r}])
told["metadata"] = found.version
command, = found.entry_points.select(group="console_scripts", name="ubic")
told["command"] = command.load().__module__
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(installed, tmp_path_factory):
    """What a Python says that sees only the wheel and the packages it needs.

    It has no folder of its own and no `.pth` file, so no editable installation either.
    """
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    code = LOOK.format(paths=[str(installed), *packages], folder=str(installed))
    command, elsewhere = [sys.executable, "-I", "-S", "-c", code], tmp_path_factory.mktemp("elsewhere")
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_module_is_imported_from_the_wheel(told, installed, tracked):
    assert Path(told["file"]) == installed / "ubic" / "__init__.py"
    sources = [name for name in tracked if re.fullmatch(r"ubic/(\w+/)*\w+\.py", name)]
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in sources} - {"ubic"}
    assert set(told["modules"]) == modules and len(modules) > 30
    for name, (file, error) in told["modules"].items():
        if error: # an optional package is not there
            assert "pip install" in error and "ubic[" in error, f"{name}: {error}"
        else: assert Path(file).is_relative_to(installed / "ubic"), name


def test_data_and_command_come_with_the_wheel(told):
    import ubic
    text = (ROOT / "ubic" / "published.csv").read_text(encoding="utf-8")
    assert told["csv"] == text
    assert told["numbers"] == len(ubic.recipes.published_numbers()) == len(list(csv.DictReader(text.splitlines())))
    assert told["version"] == told["metadata"] == ubic.__version__
    assert told["command"] == "ubic.telling.cli"
