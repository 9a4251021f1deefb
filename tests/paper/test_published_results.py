"""The published numbers in their file, and the page that sets ours beside them."""
import importlib.util
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ubic import recipes

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = recipes.published_numbers()


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("results_tool", ROOT / "tools" / "results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def compared(tool): return tool.compared()


# --- the file ---

def test_every_number_has_a_source_and_a_tolerance():
    assert (NUMBERS["source"] != "").all()
    assert all(float(text.rstrip("%")) >= 0 for text in NUMBERS["tolerance"])
    assert NUMBERS["source"].str.match(r"Table|Fig\.|text|notebook|journal").all()


def test_every_value_is_a_number_or_a_formula():
    assert all(not math.isnan(float(value)) for value in NUMBERS[NUMBERS["quantity"] != "formula"]["value"])


def test_no_number_stands_there_twice(tool): assert not NUMBERS.duplicated(tool.PLACE).any()


def test_every_experiment_has_a_section(tool):
    listed = [experiment for *_, experiments, _ in tool.SECTIONS for experiment in experiments]
    assert sorted(listed) == sorted(NUMBERS["experiment"].unique())
    assert all((ROOT / "nbs" / f"{notebook}.ipynb").exists() for *_, notebook in tool.SECTIONS)


def test_tables_of_the_paper_are_listed_in_full(tool):
    tables = NUMBERS.assign(table=NUMBERS["source"].str.extract(r"(Table \d)")[0])
    cells = tables.drop_duplicates(["table", *tool.PLACE[1:]]).groupby("table").size()
    counts = 90, 32, 6, 9, 12, 24 # the networks of Table 5 are those of Table 3
    assert cells.to_dict() == {f"Table {i}": count for i, count in enumerate(counts, 1)}


def test_importing_the_package_does_not_read_it():
    command = (
        "import sys, ubic; assert 'ubic.recipes' not in sys.modules; "
        "ubic.recipes; assert 'ubic.recipes' in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", command], cwd=ROOT).returncode == 0


# --- the tables made from it ---

def test_denoising_table():
    assert recipes.published.loc[("burgers", "u", True)].tolist() == [2, 0.910797, -12235.85, 0.0]
    assert recipes.published.loc[("gray_scott", "v", True)].tolist() == [5, 0.0109656, -120587.84, 1.516255277]
    false = recipes.published.loc[("navier_stokes", "w", False)]
    assert np.isnan(false["size"]) and false["%CE"] == math.inf
    assert false["R_BIC"] == -4379570 and np.isnan(false["lam"])
    assert len(recipes.published) == 16 and list(recipes.published) == ["size", "%CE", "R_BIC", "lam"]


def test_tables_of_the_supplement():
    assert recipes.published_refits.loc[("burgers", "convolutional_weak_form", False), "%CE"] == 1.7287
    assert recipes.published_noise.loc[("kdv", False, 110)].tolist() == ["P85", 2, 69.49, 2.61]
    assert recipes.published_noise.loc[("ks", False, 36.67), "lam"] == 2.98
    assert recipes.published_gamma.loc[("navier_stokes", "w"), "lam"] == 7.3091
    assert recipes.published_sensitivity.loc[("reaction_diffusion", "u")].tolist() == [93.33, 100]
    assert recipes.published_splits.loc[("kdv", "RepeatedKFold")].tolist() == [7, 5]
    curve = recipes.published_split_curves["burgers", "single"]
    assert curve == [-32402.92, -38553.67, -38546.88, -38545.53, -38551.70]
    assert recipes.published_pinn.loc[("ks", 4)].tolist() == [501440.30, 1.4572e-2, 4.6008e-3]
    assert recipes.published_variants.loc[("kdv", "intercept in both")].tolist() == [-732056.7, -729385.5]
    assert recipes.published_intercept == -1e-4


def test_simulations_and_their_starts():
    assert recipes.published_simulations.loc[("kdv", 3)].tolist() == [-722890.3, math.inf]
    assert recipes.published_starts.loc[("burgers", "refined"), "program"] == "Feyn"
    assert recipes.published_starts.loc[("kdv", "raw")].tolist() == ["PySR", "sin(-0.15645656*x)", False]
    assert list(recipes.published_starts) == ["program", "formula", "used"]


@pytest.mark.parametrize("key, size, value", [
    (("burgers", "u", "uncertainty", True), 8, 31.277302),
    (("kdv", "u", "BIC", False), 14, -19063.017),
    (("navier_stokes", "w", "BIC", True), 3, -18.119350e6),
    (("gray_scott", "v", "uncertainty", True), 2, 258.758),
])
def test_curves(key, size, value): assert recipes.published_curves[key][size - 1] == value


def test_whole_numbers_stay_whole():
    columns = {"size": recipes.published_noise, "training": recipes.published_splits}
    columns["percentile"] = recipes.published_sensitivity
    assert all(table[column].dtype == np.int64 for column, table in columns.items())


def test_unknown_experiment():
    with pytest.raises(ValueError, match="`experiment` must be one of denoising.*found 'weather'"):
        recipes.published_table("weather", "dataset")


# --- ours beside them ---

def test_page_is_current(tool, compared):
    kept = tool.TARGET.read_text(encoding="utf-8")
    assert kept == tool.page(compared), "`python tools/results.py` writes RESULTS.md again"


def test_every_number_outside_its_tolerance_has_a_reason(compared):
    outside = compared[compared["within"].eq(False)]
    assert outside[outside["note"] == ""].empty


def test_what_starts_from_the_published_data_agrees(compared):
    experiments = compared["experiment"].isin(["denoising", "noise", "refits", "splits", "split_curves"])
    main = compared[experiments & compared["dataset"].isin(["burgers", "kdv", "ks", "reaction_diffusion"])]
    assert len(main) > 100 and main["within"].eq(True).all()


def test_site_shows_all_of_it(tool, compared):
    from nbconvert.filters import markdown2html
    cells = json.loads((ROOT / "nbs/paper/all_results.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    shown = ["".join(output["data"]["text/html"]) for output in outputs if "text/html" in output.get("data", {})]
    pages = map(markdown2html, tool.chapters(compared).values())
    wanted = [page.replace("<table>", '<table class="dataframe">') for page in pages]
    assert shown == wanted, "run nbs/paper/all_results.ipynb again"


def test_every_number_is_there_once_and_folded(tool, compared):
    summary, reasons, *sections = tool.chapters(compared).values()
    whole = r".*?\n<details>\n<summary>All (\d+) numbers, paper and ours</summary>\n\n(.*)\n</details>\n*"
    folded = [re.fullmatch(whole, part, re.DOTALL) for part in sections]
    assert len(folded) == len(tool.SECTIONS) and all(folded)
    assert "<details>" not in summary and reasons.count("<details>") == 1
    rows = [sum(line.startswith("| ") for line in block[2].splitlines()) - 1 for block in folded]
    assert rows == [int(block[1]) for block in folded] and sum(rows) == len(compared)


def test_short_page_tells_the_summary_and_the_reasons(tool, compared):
    opening, *told = tool.page(compared).split("\n## ")
    assert "nbs/paper/all_results.ipynb" in opening
    assert [part.split("\n", 1)[0] for part in told] == ["Summary", "Outside, and why"]
    assert len(tool.page(compared).splitlines()) < 100


def test_counts_of_the_sections_add_up(tool, compared):
    _, _, *sections = tool.chapters(compared).values()
    lines = [line for part in sections for line in part[:part.index("<details>")].splitlines()]
    lines = [line for line in lines if line.startswith("| ") and "numbers" not in line]
    found = np.array([list(map(int, (line.split("|")[2:-1] + ["0"])[:3])) for line in lines])
    total, within, explained, *_ = tool.counts(compared)
    assert found[:, 0].sum() == total and found[:, 1].sum() == within
    assert (found[:, 1:].sum(axis=1) == found[:, 0]).all() and explained == total - within


def test_differences_are_named_for_what_they_are(tool, compared, monkeypatch):
    assert str(tool.chapters(compared)).count("| relative difference |") == len(tool.SECTIONS)
    made_up = {"size": 3, "%CE": math.inf, "R_BIC": -12235.85, "lam": 0.5}
    monkeypatch.setattr(recipes, "measured", lambda *_: made_up)
    differences = {"size": 0.5, "%CE": math.inf, "R_BIC": 0, "lam": math.inf}
    assert recipes.compare("burgers")["relative difference"].to_dict() == differences


@pytest.mark.parametrize("value, tolerance, shown", [
    ("2", "0", "exact"), ("17.3", "5%", "5 %"), ("0.5", "0.005", "0.005 (1 %)"), ("0", "0.005", "0.005"),
    ("-200", "0.5", "0.5 (0.25 %)"),
])
def test_tolerances_can_be_compared_with_differences(tool, value, tolerance, shown):
    assert tool.claimed(SimpleNamespace(value=value, tolerance=tolerance)) == shown


def test_missing_results_are_said_to_be_missing(tool, tmp_path, monkeypatch):
    monkeypatch.setattr(tool, "NBS", tmp_path)
    table = tool.compared()
    assert table["ours"].isna().all() and tool.counts(table) == (len(table), 0, 0, 0, len(table))
    each_table_of_counts = 1 + len(tool.SECTIONS) # has a column of them
    assert str(tool.chapters(table)).count("not saved yet") == len(table) + each_table_of_counts


def test_changed_results_are_noticed(tool, compared):
    changed = compared.assign(ours=[value if k else 99.0 for k, value in enumerate(compared["ours"])])
    assert tool.chapters(changed) != tool.chapters(compared)


@pytest.mark.parametrize("paper, found, tolerance, difference, within", [
    ("100", 101.0, "1%", "1 %", True), ("100", 102.0, "1%", "2 %", False), ("100", 100.4, "0.5", "0.4 %", True),
    ("0.5", 0.504, "0.005", "0.8 %", True), ("0.5", 0.506, "0.005", "1.2 %", False),
    ("2", 2, "0", "0", True), ("2", 3, "0", "50 %", False), ("2", 6, "0", "200 %", False),
    ("inf", math.inf, "0", "0", True), ("inf", 3.0, "1%", "infinite", False), ("3", math.inf, "1%", "infinite", False),
    ("0", 0.5, "5%", "infinite", False), ("0", 0.5, "0.5", "infinite", True), ("-5", -5.2, "5%", "4 %", True),
])
def test_judgement(tool, paper, found, tolerance, difference, within):
    row = SimpleNamespace(value=paper, tolerance=tolerance, quantity="BIC", dataset="kdv")
    assert tool.judge(row, found) == (difference, within)


def test_a_number_that_is_not_one_is_outside(tool):
    row = SimpleNamespace(value="3", tolerance="5%", quantity="BIC", dataset="kdv")
    assert tool.judge(row, math.nan)[1] is False


def test_formulas_are_compared_on_the_grid(tool):
    assert tool.formula_distance("kdv", "sin(x)", "-sin(-x)") < 1e-12
    assert tool.formula_distance("kdv", "sin(x)", "2*sin(x)") == pytest.approx(1)
