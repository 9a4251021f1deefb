"""The command line: its examples run, its mistakes end in a sentence, its JSON is strict."""
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ubic
from ubic import cli
from ubic.cli import main

NOTEBOOK = Path(__file__).resolve().parent.parent/"nbs"/"12_cli.ipynb"


def shell_examples():
    "Lines of the blocks marked `sh` in the notebook."
    texts = ["".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "markdown"]
    return [line for text in texts for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines() if line]


def help_examples(): return [line for line in map(str.strip, cli._examples.splitlines()) if line.startswith("ubic ")]


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "ubic.cli", *arguments], capture_output=True, text=True, timeout=300, env=os.environ | environment)


def strict(text): return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def last_line(capsys): return capsys.readouterr().err.strip().splitlines()[-1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_examples_of_the_notebook_run(folder):
    examples = [shlex.split(line) for line in shell_examples()]
    assert {words[0] for words in examples} == {"ubic"} and {words[1] for words in examples} == set(cli._commands)
    for words in examples: assert main(words[1:]) == 0, words
    assert {"mine.npz", "figure.png", "report.html", "found.npz"} <= {path.name for path in folder.iterdir()}
    assert ubic.Discovery.load("found.npz")["u"].verdict == "clear"


def test_examples_of_the_help_are_understood():
    assert len(help_examples()) >= 6
    for line in help_examples():
        command = re.split(r"\s{2,}|\s(?=only\b)", line)[0].partition(" > ")[0]
        assert cli._parser().parse_args(shlex.split(command)[1:]).command in cli._commands


@pytest.mark.parametrize("arguments, code", [(["--version"], 0), (["--help"], 0), (["paper", "--help"], 0), ([], 2), (["find"], 2), (["discover"], 2), (["discover", "burgers", "--mode", "best"], 2), (["data", "heat"], 1)])
def test_exit_codes(arguments, code):
    done = run(*arguments)
    assert done.returncode == code and "Traceback" not in done.stderr
    if arguments == ["--version"]: assert done.stdout == f"ubic {ubic.__version__}\n"


@pytest.mark.parametrize("arguments", [
    ["discover", "nowhere.nc"], ["discover", "text.nc"], ["discover", "text.npz"], ["discover", "folder"], ["data", "heat"], ["paper", "heat"], ["discover", "burgers", "--target", "v"], ["discover", "burgers", "--noise", "nan"],
    ["discover", "burgers", "--recipe", "heat"], ["discover", "burgers", "--power", "-1"], ["discover", "burgers", "--max-size", "0"], ["discover", "burgers", "--tau0", "P200"], ["discover", "bare.npy", "--dims", "x"],
    ["discover", "bare.npy", "--dims", "x", "t", "--rename", "u"], ["data", "burgers", "--out", "no/such/folder/x.npz"], ["data", "burgers", "--out", "burgers.xls"]])
def test_mistakes_end_in_a_sentence(arguments, folder, capsys):
    Path("text.nc").write_text("hello")
    Path("text.npz").write_text("hello")
    Path("folder").mkdir()
    np.save("bare.npy", np.random.default_rng(0).standard_normal((40, 30)))
    assert main(arguments) == 1
    error = last_line(capsys)
    assert error.startswith("ubic: ") and error.endswith((".", ")")) and "Errno" not in error


@pytest.mark.parametrize("arguments", [["discover", "burgers", "--report", "x.docx"], ["discover", "burgers", "--report", "no/such/x.html"], ["discover", "burgers", "--figure", "x.docx"], ["report", "burgers", "x.txt"], ["discover", "burgers", "--save", "x.json"], ["discover", "burgers", "--save", "x.npz", "--chunks"]])
def test_places_to_write_are_checked_first(arguments, folder, capsys, monkeypatch):
    monkeypatch.setattr("ubic.pipeline.discover", lambda *_, **__: pytest.fail("the work began"))
    assert main(arguments) == 1 and last_line(capsys).startswith("ubic: ")


@pytest.mark.parametrize("problem, code", [(KeyboardInterrupt, 130), (MemoryError, 1)])
def test_interruption_and_memory(problem, code, monkeypatch, capsys):
    def fail(*_, **__): raise problem
    monkeypatch.setattr("ubic.pipeline.discover", fail)
    assert main(["discover", "burgers"]) == code and last_line(capsys).startswith("ubic: ")


def test_bugs_keep_their_traceback(monkeypatch):
    monkeypatch.setattr("ubic.pipeline.discover", lambda *_, **__: {}["missing"])
    with pytest.raises(KeyError): main(["discover", "burgers"])


def test_json_is_strict_and_complete(capsys):
    assert main(["discover", "burgers", "--noise", "30", "--json"]) == 0
    found = strict(capsys.readouterr().out)["u"]
    assert found["terms"] == ["u_xx", "u*u_x"] and found["size"] == 2 and found["verdict"] == "clear" and found["error_percent"] < 1
    assert len(found["path"]["bic"]) == len(found["path"]["terms"]) == len(found["path"]["sizes"])
    assert main(["data", "kdv", "--json"]) == 0 and strict(capsys.readouterr().out)["sizes"] == {"x": 512, "t": 501}


def test_json_of_the_paper(capsys):
    assert main(["paper", "kdv", "--json"]) == 0
    ours = strict(capsys.readouterr().out)["kdv"]["u"]
    assert ours["size"] == {"paper": 2, "ours": 2, "relative difference": 0} and ours["%CE"]["relative difference"] < 1e-3


def test_paper_prints_every_unknown(monkeypatch, capsys):
    from ubic import recipes
    monkeypatch.setattr(recipes, "compare", lambda name, denoising, target: recipes.pd.DataFrame({"paper": [1.0], "ours": [2.0]}, index=["size"]))
    assert main(["paper", "all", "--without-denoising"]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}, {target}, without denoising" in printed for name in recipes.recipes for target in recipes.recipes[name].targets)


def test_numbers_that_json_does_not_know():
    wild = {"a": np.array([1.0, np.nan]), 2: (np.inf, -np.inf), "b": np.float64("nan"), "c": np.int64(3), "d": True, "e": None}
    assert cli._plain(wild) == {"a": [1.0, None], "2": [None, None], "b": None, "c": 3, "d": True, "e": None}


def test_files_with_other_names(folder, capsys):
    field = ubic.add_noise(ubic.datasets.burgers(), 10, seed=0)
    np.savez("other.npz", field=field.u.values, where=field.x.values, time=field.t.values)
    assert main(["discover", "other.npz", "--rename", "field=u", "where=x", "--json"]) == 0
    assert strict(capsys.readouterr().out)["u"]["terms"] == ["u_xx", "u*u_x"]


def test_report_tells_how_it_was_made(folder, capsys):
    assert main(["report", "burgers", "out.html", "--noise", "30", "--title", "Mine & yours"]) == 0
    page = Path("out.html").read_text(encoding="utf-8")
    assert capsys.readouterr().out == "out.html\n" and "ubic report burgers out.html --noise 30 --title &#x27;Mine &amp; yours&#x27;" in page and "<h1>Mine &amp; yours</h1>" in page


def test_terminal_without_greek_letters():
    done = run("data", "kdv", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and "Korteweg?de Vries" in done.stdout


def test_reader_that_went_away():
    done = subprocess.Popen([sys.executable, "-m", "ubic.cli", "data", "kdv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    done.stdout.close()
    assert done.stderr.read() == "" and done.wait(timeout=60) == 0
