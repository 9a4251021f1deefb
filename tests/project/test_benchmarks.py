"""The benchmarks: how two functions are timed, and what happens to peers that are absent and jobs that fail.

Every ratio anyone reads is in the table.
"""
import json
import math
import platform
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
import speed
from benchmarks import __main__ as program, bench_discovery, bench_search, harness, scaling, scoreboard
from ubic.search.paths import path_of

FOLDER = ROOT / "benchmarks"
CLAIM = re.compile(
    r"(?:[\d.,  ]*\d"
    r"|\b(?:several|many|dozens|hundreds?|thousands?|ten|twenty|hundred|thousand)(?: of)?)"
    r"\s+times\s+(?:faster|slower|quicker|longer|as fast|as long|the time)"
    r"|\b(?:twice|thrice) as (?:fast|slow|long)"
    r"|orders? of magnitude (?:faster|slower)"
    r"|-fold (?:faster|speed)",
    re.IGNORECASE,
)
ASKED = [
    ("weak library of burgers", "PySINDy"),
    ("weak library of reaction–diffusion", "PySINDy"),
    ("weak library of gray–scott", "PySINDy"),
    ("exact best subsets", "lstsq on all"),
    ("exact best subsets", "PySINDy MIOSR on Gurobi"),
    ("exact best subsets", "SCIP, MIQP"),
    ("exact best subsets", "abess"),
    ("OMP", "scikit-learn"),
    ("K-SVD", "dictlearn"),
    ("Savitzky–Golay over", "scipy"),
    ("Savitzky–Golay 7 × 7", "scipy"),
    ("rank 10", "scipy svd"),
    ("horseshoe", "PyMC"),
    ("step of a network", "nested differentiation"),
    ("Burgers", "PySINDy weak form"),
    ("Korteweg–de Vries", "PySINDy weak form"),
    ("Kuramoto–Sivashinsky", "PySINDy weak form"),
    ("reaction–diffusion", "PySINDy weak form"),
]


@pytest.fixture(autouse=True)
def no_sweeping(monkeypatch):
    "Sweeping takes its time after torch has been imported."
    monkeypatch.setattr(harness.gc, "collect", lambda: None)


# --- timing, with a clock of our own ------------------------------------------------------------------------------

@pytest.fixture
def clock(monkeypatch):
    "Time passes only in functions made by `clock(name, *costs)`: each call costs the next of these, the last for ever."
    now, calls = [0.0], []
    def make(name, *costs):
        left = list(costs)
        def function():
            calls.append(name)
            now[0] += left.pop(0) if len(left) > 1 else left[0]
            return name
        return function
    monkeypatch.setattr(harness, "perf_counter", lambda: now[0])
    make.calls = calls
    return make


def test_functions_are_called_in_turns(clock):
    seconds, results = harness.in_turns([clock("a", 1), clock("b", 2), clock("c", 3)], repeats=3)
    assert clock.calls == [*"abc", *"abc", *"cba", *"abc"] # once to compile, then forwards and backwards
    assert seconds.tolist() == [[1, 2, 3]]*3 and results == [*"abc"]


def test_short_functions_are_called_often_enough_for_the_clock(clock):
    seconds, _ = harness.in_turns([clock("short", harness.SHORT/4), clock("other", 1)], repeats=2)
    assert clock.calls.count("short") == 1 + 2*4 and clock.calls.count("other") == 1 + 2
    assert seconds[:, 0] == pytest.approx(harness.SHORT/4)


def test_first_call_that_compiles_does_not_count(clock):
    row, _, _ = harness.side_by_side(clock("ours", 50, 1), clock("peer", 5, 2), repeats=3)
    assert (row["ours_s"], row["peer_s"]) == (1, 2)


def test_first_call_of_a_slow_peer_counts(clock):
    row, _, _ = harness.side_by_side(clock("ours", 1), clock("peer", 20, 30, 40), repeats=3)
    assert clock.calls.count("peer") == 3 == row["repeats"] and row["peer_s"] == 30


def test_a_peer_of_minutes_is_called_twice(clock):
    row, _, _ = harness.side_by_side(clock("ours", 1), clock("peer", 100, 200), repeats=5)
    assert clock.calls.count("peer") == 2 == row["repeats"] and row["peer_s"] == 150


def test_ratio_is_that_of_medians_and_lies_between_those_of_single_rounds(clock):
    row, mine, theirs = harness.side_by_side(clock("ours", 9, 1, 2, 4), clock("peer", 9, 6, 8, 5), repeats=3)
    assert (mine, theirs) == ("ours", "peer")
    assert (row["ours_s"], row["ours_spread"], row["peer_s"], row["peer_spread"]) == (2, 3, 6, 3)
    assert row["ratio"] == 6/2 and (row["ratio_low"], row["ratio_high"]) == (5/4, 6/1)
    rng = np.random.default_rng(0)
    for _ in range(20):
        ours, peer = rng.exponential(size=(2, 4)) + 0.1
        row, _, _ = harness.side_by_side(clock("ours", 9, *ours), clock("peer", 9, *peer), repeats=4)
        assert row["ratio_low"] <= row["ratio"]*(1 + 1e-9) and row["ratio"] <= row["ratio_high"]*(1 + 1e-9)


def test_one_round_has_no_spread(clock):
    row, _, _ = harness.side_by_side(clock("ours", 1), clock("peer", 2), repeats=1)
    assert math.isnan(row["ours_spread"]) and math.isnan(row["peer_spread"])
    assert row["ratio_low"] == row["ratio_high"] == 2


def test_result_may_bring_its_own_seconds():
    ours, peer = harness.Measured(0.5, "ours"), harness.Measured(3.0, "peer")
    row, mine, theirs = harness.side_by_side(lambda: ours, lambda: peer, repeats=2)
    assert (row["ours_s"], row["peer_s"], row["ratio"], mine, theirs) == (0.5, 3, 6, "ours", "peer")


def test_exponent_of_a_power_law(clock):
    assert harness.exponent([10, 20, 40, 80], [3*size**1.7 for size in (10, 20, 40, 80)]) == pytest.approx(1.7)
    rows = scaling.curve("stage", "rows", lambda size: clock(size, 0.2*size**0.5), [4, 16, 64])
    assert [row["size"] for row in rows] == [4, 16, 64]
    assert [row["seconds"] for row in rows] == pytest.approx([0.4, 0.8, 1.6])
    assert all(row["exponent"] == pytest.approx(0.5) for row in rows) and list(rows[0]) == scaling.COLUMNS


# --- jobs that do not end well ------------------------------------------------------------------------------------

def test_absent_peer_is_skipped_and_a_failure_is_counted(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "abess.linear", None)
    monkeypatch.setattr(harness, "SHORT", 0)
    def broken(): raise ValueError("no such luck")
    failed = []
    def absent(): return bench_search.abess(lambda: bench_search.problem(9, n=50), 2)
    done = list(harness.results([absent, broken, lambda: "the last"], failed))
    said = capsys.readouterr().err
    assert done == ["the last"] and [str(error) for error in failed] == ["no such luck"]
    assert re.search("^skipped: .*abess", said, re.MULTILINE) and "FAILED" in said and "no such luck" in said


@pytest.fixture
def small(tmp_path, monkeypatch):
    "A folder, and a function that measures groups given as name → jobs."
    def measure(groups):
        def jobs(self, group): return harness.results(groups[group], self.failed)
        monkeypatch.setattr(program.Run, "jobs", jobs)
        run = program.Run(tmp_path, False, list(groups))
        for group in groups: run.measure(group)
        return run
    return tmp_path, measure


def row(name, ratio=2.0):
    "A row of the table."
    return {
        "name": name,
        "peer": "peer",
        "ours_s": 1.0,
        "ours_spread": 0.1,
        "peer_s": ratio,
        "peer_spread": 0.1,
        "ratio": ratio,
        "ratio_low": ratio,
        "ratio_high": ratio,
        "repeats": 3,
        "agreement": "same",
    }


def test_groups_measured_again_replace_their_rows_and_no_others(small):
    folder, measure = small
    def broken(): raise RuntimeError
    groups = {"search": [lambda: row("first"), broken, lambda: row("second")], "library": [lambda: row("third")]}
    assert len(measure(groups).failed) == 1
    named = pd.read_csv(folder/"results.csv")[["group", "name"]]
    assert named.values.tolist() == [["library", "third"], ["search", "first"], ["search", "second"]]
    measure({"search": [lambda: row("first", 4.0)]})
    table = pd.read_csv(folder/"results.csv")
    assert list(table.columns) == harness.COLUMNS
    assert table[["name", "ratio"]].values.tolist() == [["third", 2.0], ["first", 4.0]]
    about = json.loads((folder/"environment.json").read_text(encoding="utf-8"))
    assert set(about["measured"]) == {"library", "search"}


def test_table_is_kept_when_a_run_is_interrupted(small):
    folder, measure = small
    def interrupted(): raise KeyboardInterrupt
    jobs = [lambda: row("first"), interrupted, lambda: row("never")]
    with pytest.raises(KeyboardInterrupt): measure({"search": jobs})
    assert pd.read_csv(folder/"results.csv")["name"].tolist() == ["first"]
    assert list(folder.iterdir()) == [folder/"results.csv"]


def test_curves_are_written(small):
    folder, measure = small
    def curve(): return [dict(zip(scaling.COLUMNS, ("stage", "rows", size, 1.0, 0.1, 3, 0.0))) for size in (1, 2)]
    measure({"scaling": [curve]})
    assert pd.read_csv(folder/"scaling.csv")[["stage", "size"]].values.tolist() == [["stage", 1], ["stage", 2]]


def test_unknown_group_gets_a_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "speed"])
    with pytest.raises(SystemExit): program.main()
    assert "there is no group speed; groups are library, search" in capsys.readouterr().err


def test_all_groups_have_jobs():
    for full in (False, True):
        for group in program.GROUPS:
            jobs = list(program.importlib.import_module(f"benchmarks.bench_{group}").jobs(full))
            assert jobs and all(map(callable, jobs))
        assert all(map(callable, scaling.jobs(full)))


# --- comparisons --------------------------------------------------------------------------------------------------

def test_search_beside_brute_force(monkeypatch):
    monkeypatch.setattr(harness, "SHORT", 0)
    found = bench_search.from_rows(9, n=200)
    assert found["agreement"] == "9 of 9 supports equal"
    assert found["repeats"] == 3 and found["peer"] == "lstsq on all 511 subsets"


def test_exactness_tells_whose_residual_is_larger():
    system = bench_search.problem(9, n=200)
    path = bench_search.best_subsets(system, 3)
    worse = [*path.supports[:2], (1, 3, 5)]
    told = bench_search.exactness(system, path, worse)
    assert re.fullmatch(r"2 of 3 supports equal; peer's residuals up to \S+ larger", told)
    told = bench_search.exactness(system, path_of(system, worse), path.supports)
    assert re.fullmatch(r"2 of 3 supports equal; our residuals up to \S+ larger", told)


def test_licences_that_bind_are_in_no_extra_but_peers(monkeypatch):
    told = {}
    monkeypatch.setattr("setuptools.setup", lambda **settings: told.update(settings))
    runpy.run_path(str(ROOT/"setup.py"))
    groups = told["extras_require"] | {"core": told["install_requires"]}
    extras = {name: " ".join(packages) for name, packages in groups.items()}
    assert [name for name, packages in extras.items() if re.search("abess|gurobi", packages)] == ["peers"]


# --- what is committed, and what is said about it -----------------------------------------------------------------

@pytest.fixture(scope="module")
def table(): return pd.read_csv(FOLDER/"results.csv")


def test_table_is_complete_and_its_arithmetic_right(table):
    assert list(table.columns) == harness.COLUMNS and set(table["group"]) == set(program.GROUPS)
    assert not table.duplicated(["name", "peer"]).any()
    assert (abs(table["peer_s"]/table["ours_s"]/table["ratio"] - 1) < 2e-3).all()
    assert (table["ratio_low"] <= table["ratio"]*1.001).all()
    assert (table["ratio"] <= table["ratio_high"]*1.001).all()
    assert (table["repeats"] >= np.where(table["peer_s"] < harness.VERY_LONG/2, 3, 2)).all()
    assert table["agreement"].str.len().gt(0).all()
    def measured(name, peer): return table["name"].str.startswith(name) & table["peer"].str.startswith(peer)
    lost = [(name, peer) for name, peer in ASKED if not measured(name, peer).any()]
    assert lost == []


def test_exponents_are_those_of_the_curves():
    curves = pd.read_csv(FOLDER/"scaling.csv")
    assert list(curves.columns) == scaling.COLUMNS
    assert {"rows", "candidates", "points along x", "frames"} == set(curves["against"])
    for _, curve in curves.groupby(["stage", "against"]):
        assert len(curve) >= 3 and curve["exponent"].nunique() == 1
        assert harness.exponent(curve["size"], curve["seconds"]) == pytest.approx(curve["exponent"].iloc[0], abs=2e-3)


def test_environment_tells_what_was_measured_with_and_not_where():
    about = (FOLDER/"environment.json").read_text(encoding="utf-8")
    told = json.loads(about)
    assert set(told["peers"]) == set(program.PEERS) and set(told["measured"]) == {*program.GROUPS, "scaling"}
    assert told["BLAS threads"] == 1 and told["processor"]
    assert set(told) == set(program.environment(True)) and platform.node() not in about


def cells_of(path): return json.loads(path.read_text(encoding="utf-8"))["cells"]


def prose(path): return "\n".join("".join(cell["source"]) for cell in cells_of(path) if cell["cell_type"] == "markdown")


def seen(path): return not any(part[0] in "._" for part in path.relative_to(ROOT).parts)


def told_on_the_front_page(told):
    "Whether the front page of the site, and that of the repository, have a paragraph."
    readme = (ROOT/"README.md").read_text(encoding="utf-8")
    return told in prose(ROOT/"nbs"/"index.ipynb") and told.replace("](", "](nbs/") in readme


def test_every_claim_about_speed_comes_from_the_table(table):
    told = speed.paragraph(table)
    assert told_on_the_front_page(told), "`make export` writes it again"
    pages = {path: prose(path) for path in sorted((ROOT/"nbs").rglob("*.ipynb")) if seen(path)}
    pages |= {path: path.read_text(encoding="utf-8").replace("(nbs/beyond/", "(beyond/") for path in ROOT.glob("*.md")}
    found = {str(path.relative_to(ROOT)): CLAIM.findall(page.replace(told, "")) for path, page in pages.items()}
    claims = {page: said for page, said in found.items() if said}
    assert claims == {}


def test_the_front_page_says_with_which_settings():
    def written(**settings): return ", ".join(f"{name}={value!r}" for name, value in settings.items())
    assert speed.SETTING == written(power=scoreboard.POWER, fluxes=True, max_size=scoreboard.SIZE)
    assert speed.FIRST == written(**bench_discovery.FIRST) and bench_discovery.FIRST == scaling.FIRST
    seeds = pd.read_csv(speed.SEEDS[0])
    for table in (seeds.assign(settings="defaults"), seeds.drop(columns="settings")):
        assert speed.asked(table) == "defaults only"
    assert speed.asked(seeds.assign(settings="power=1")) == "`power=1` and defaults otherwise"
    seeds.loc[0, "settings"] = "power=1"
    with pytest.raises(SystemExit, match="mixes settings"): speed.asked(seeds)


FRONT_PAGE = [
    (speed.scores, speed.RUNS),
    (speed.accuracy, [*speed.SEEDS, speed.PUBLISHED]),
]


@pytest.mark.parametrize("paragraph, tables", FRONT_PAGE)
def test_the_front_page_tells_the_tables_as_they_are(paragraph, tables):
    told = paragraph(*map(pd.read_csv, tables))
    assert told_on_the_front_page(told), "`make export` writes it again"


@pytest.mark.parametrize("page, peer", [("beyond/benchmarks", ""), ("tutorials/for_pysindy_users", "PySINDy")])
def test_pages_show_the_table_as_it_is(table, page, peer):
    cells = cells_of(ROOT/"nbs"/f"{page}.ipynb")
    outputs = [output.get("data", {}).get("text/html", "") for cell in cells for output in cell.get("outputs", [])]
    shown = "\n".join(map("".join, outputs))
    for line in table[table["peer"].str.startswith(peer)].itertuples():
        ratio, low, high = map(speed.number, (line.ratio, line.ratio_low, line.ratio_high))
        told = f"<td>{ratio}</td>" if peer else f"<td>{ratio} ({low} – {high})</td>"
        assert told in shown.replace("\u202f", " ") and line.name in shown, "run the page again"


def test_claims_are_recognised():
    claims = (
        "4 700 times faster than",
        "about 12.5 times as fast",
        "takes ten times longer",
        "several times faster",
        "twice as fast",
        "an order of magnitude faster",
        "hundreds of times faster",
    )
    others = ("three times in a row", "on a scale ten times finer", "noise is left 1.07 times")
    for text in claims: assert CLAIM.search(text), text
    for text in others: assert not CLAIM.search(text), text
