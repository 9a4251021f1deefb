"The project in step with itself: package, README and notebooks agree, notebooks run, importing is light."
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import shape

def visible(path): return not any(part[0] in "._" for part in path.relative_to(ROOT).parts)


NOTEBOOKS = sorted(path for path in (ROOT / "nbs").rglob("*.ipynb") if visible(path))
HOME_FOLDER = re.compile(r"(?<![\w.])(/home/\w|/Users/\w|/root\b|[A-Z]:\\Users\\)")
AUTHORING_MACHINE = re.compile(r"(?<![\w.])/(root|work)/|/tmp/(author\b|ipykernel)")


def run(*command, cwd=ROOT, **environment):
    "Run a command quietly; fail with everything it said."
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=os.environ | environment, **quiet)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def tool(name): return Path(sys.executable).with_name(name)


def name(path): return str(path.relative_to(ROOT / "nbs").with_suffix(""))


def modules(package):
    "The text of each module of a package, by its place in it."
    paths = sorted(package.rglob("*.py"))
    return {str(path.relative_to(package)): path.read_text(encoding="utf-8") for path in paths}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    "A copy of the notebooks and the settings, for tools that write, with no module but the package's own first file."
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "nbs", folder / "nbs", ignore=shutil.ignore_patterns(".*", "_*"))
    for file in ("settings.ini", "setup.py", "README.md"): shutil.copy(ROOT / file, folder)
    (folder / "ubic").mkdir()
    shutil.copy(ROOT / "ubic" / "__init__.py", folder / "ubic")
    return folder


def test_package_is_what_the_notebooks_export(copy):
    run(tool("nbdev_export"), cwd=copy)
    ours, fresh = modules(ROOT / "ubic"), modules(copy / "ubic")
    assert sorted(ours) == sorted(fresh)
    assert [module for module in ours if ours[module] != fresh[module]] == [], "`make export` writes the package again"


def test_notebooks_are_clean(copy):
    run(tool("nbdev_clean"), cwd=copy)
    fresh = {path: copy / path.relative_to(ROOT) for path in NOTEBOOKS}
    changed = [name(path) for path in NOTEBOOKS if path.read_bytes() != fresh[path].read_bytes()]
    assert changed == [], "`make export` cleans the notebooks"


def is_picture(kind): return kind.startswith("image/")


def as_text(value):
    "One representation of an output as text."
    if isinstance(value, str): return value
    return json.dumps(value) if isinstance(value, dict) else "".join(value)


def texts(output):
    "All the text of one output, pictures left out."
    shown = [value for kind, value in output.get("data", {}).items() if not is_picture(kind)]
    return "\n".join(map(as_text, [output.get("text", ""), *shown]))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_outputs_are_fit_to_print(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert cell.get("execution_count") is None
        for output in cell.get("outputs", []):
            shown, source = texts(output), "".join(cell["source"])
            assert output["output_type"] != "error" and "Traceback" not in shown, f"an error is shown below:\n{source}"
            assert not HOME_FOLDER.search(shown), f"a path of one machine is shown below:\n{source}"


def captions(source):
    "What a cell says about its figures."
    lines = re.findall(r"^#\|\s*(fig-cap:.*)", source, re.MULTILINE)
    return [yaml.safe_load(line)["fig-cap"] for line in lines]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_every_figure_has_a_caption(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        pictures = [output for output in cell.get("outputs", []) if any(map(is_picture, output.get("data", {})))]
        rule = f"one cell, one figure, one `#| fig-cap: …`:\n{source}"
        if cell["cell_type"] == "code": assert len(captions(source)) == len(pictures) <= 1, rule
        for caption in captions(source):
            sentence = isinstance(caption, str) and caption.endswith(".") and len(caption) > 20
            assert sentence, f"not a sentence: {caption}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_exported_cells_are_small_and_explained(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    cells, middle, longest, words, shown = shape.measure(cells)
    literate = middle <= 12 and longest <= 40 and words >= 2 and shown if cells else True
    assert literate, "see Writing a notebook in CONTRIBUTING.md"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_something_is_shown_after_a_few_exported_cells(path):
    assert shape.longest_run(json.loads(path.read_text(encoding="utf-8"))["cells"]) <= 8


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebook_runs(path):
    run(tool("nbdev_test"), "--path", path, "--n_workers", "0", TQDM_DISABLE="1")


def test_every_notebook_shows_a_full_run():
    runs = json.loads((ROOT / "nbs" / "runs.json").read_text(encoding="utf-8"))
    present = sorted(path.relative_to(ROOT).as_posix() for path in NOTEBOOKS)
    assert sorted(runs) == present, "`make paper` runs what is missing"


def test_tables_and_controls_have_the_same_names_in_every_run():
    import nbformat.v4 as make, run_notebooks, uuid
    def saved(name):
        part, control = uuid.uuid4(), uuid.uuid4().hex
        data = {"text/html": f"<i id='{part}'/><b for='{part}'/>", "text/plain": control}
        cell = make.new_code_cell("table", id="a", outputs=[make.new_output("display_data", data=data)])
        widgets = {control: {"layout": f"IPY_MODEL_{control}"}}
        nb = make.new_notebook(cells=[cell], metadata={"widgets": widgets})
        nb = run_notebooks.name_parts(nb, Path(name))
        (renamed, state), = nb.metadata.widgets.items()
        assert renamed != control and state.layout == f"IPY_MODEL_{renamed}"
        assert nb.cells[0].outputs[0].data["text/plain"] == renamed
        return nb
    first, second = run_notebooks.DRAWN.findall(saved("a.ipynb").cells[0].outputs[0].data["text/html"])
    assert first == second
    assert saved("a.ipynb") == saved("a.ipynb") != saved("b.ipynb")


@pytest.mark.parametrize("maker", ["contents", "readme"])
def test_made_files_are_in_step(maker):
    run(sys.executable, ROOT / "tools" / f"{maker}.py", "--check")


def test_no_mistakes_that_ruff_knows():
    run(tool("ruff"), "check", "--no-cache", "ubic", "tests", "tools", "benchmarks")


def test_citation_names_this_version_and_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["preferred-citation"]["title"].startswith("Adaptive Uncertainty-Guided")
    assert f"version = {citation['version']}\n" in (ROOT / "settings.ini").read_text(encoding="utf-8")


def project_files():
    "Every file that is, or would be, under version control."
    try: listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    except (AssertionError, FileNotFoundError): pytest.skip("this copy of the project is not under version control")
    paths = [ROOT / entry for entry in listed if entry]
    return [path for path in paths if path.is_file()]


def test_no_file_names_the_machine_it_was_written_on():
    def names_it(path): return AUTHORING_MACHINE.search(path.read_text(encoding="utf-8", errors="ignore"))
    named = [str(path.relative_to(ROOT)) for path in project_files() if names_it(path)]
    assert named == []
