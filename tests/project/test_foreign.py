"""The board of foreign fields: its cases, what counts as right, and that its tables tell the same as its summary."""
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks import foreign, foreign_fields
from benchmarks.peers import spelled
from ubic.choice.selection import Verdict
from ubic.ground.checks import ArgumentError
from ubic.language.equations import Equation
from ubic.language.terms import parse_term

CASES = {case.name: case for case in foreign_fields.cases()}
BURGERS, SOLITON, FLOW = (CASES[f"exponax: {name}"] for name in ("Burgers", "KdV, one soliton", "Navier-Stokes, plane"))


# --- cases --------------------------------------------------------------------------------------------------------

def test_there_are_enough_of_all_kinds():
    simulated = foreign_fields.simulated()
    assert len(list(foreign_fields.published())) == 15 and 24 <= len(simulated) <= 30
    assert len(CASES) == 15 + len(simulated)
    assert len({str(case.truth) for case in simulated}) >= 20
    assert {case.dims for case in simulated} == {1, 2, 3}
    assert {case.source for case in simulated} == {"py-pde", "exponax"}
    assert {case.edges for case in simulated} > {"periodic", "no flux", "held"}


def test_every_third_simulated_case_is_held_out():
    names = sorted(case.name for case in foreign_fields.simulated())
    assert [name for name in names if CASES[name].held_out] == names[2::3]
    assert not any(case.held_out for case in foreign_fields.published())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_truth_is_spelled_as_terms_are_read(case):
    for truth in (case.truth, *case.also):
        for left, terms in truth.items():
            assert left.split("_")[1] in ("t", "tt") and all(terms.values())
            assert [str(parse_term(term)) for term in terms] == list(terms)
    assert list(case.grid)[-1] == "t" and (case.identified or case.remark)


def test_truth_is_confirmed_on_the_clean_fields():
    fields = pd.read_csv(foreign.FIELDS)
    assert set(fields["case"]) == set(CASES)
    for name, rows in fields.groupby("case"):
        case = CASES[name]
        told = {left: dict(zip(some["term"], some["true"])) for left, some in rows.groupby("left")}
        assert told == {left: pytest.approx(terms) for left, terms in case.truth.items()}
        assert (rows["off"].abs().max() < 10) or not case.identified


def test_a_simulated_field_is_that_of_its_case(tmp_path, monkeypatch):
    pytest.importorskip("exponax", reason="the extra foreign is not installed")
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path))
    case = CASES["exponax: anisotropic diffusion, plane"]
    field = foreign_fields.field_of(case)
    assert dict(field.sizes) == case.grid and len(list(tmp_path.iterdir())) == 1
    assert foreign_fields.field_of(case).identical(field)
    assert all(abs(row["off"]) < 0.1 for row in foreign.confirmation(case))


def test_a_published_field_is_that_of_its_case():
    if not foreign_fields.folder().is_dir(): pytest.skip("the folder of published files is not beside the project")
    for case in foreign_fields.published(): assert dict(foreign_fields.field_of(case).sizes) == case.grid


def test_what_is_absent_is_skipped_with_a_word(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("UBIC_FOREIGN", str(tmp_path/"nowhere"))
    monkeypatch.setitem(sys.modules, "pde", None)
    monkeypatch.setitem(sys.modules, "exponax", None)
    assert foreign.available(None, held_out=True) == []
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3 and all(line.startswith("skipped: ") for line in said)
    assert str(tmp_path) not in "".join(said) and "ubic[foreign]" in said[-1]


def test_the_extra_is_not_part_of_all(monkeypatch):
    told = {}
    monkeypatch.setattr("setuptools.setup", lambda **settings: told.update(settings))
    runpy.run_path(str(ROOT/"setup.py"))
    extras = told["extras_require"]
    assert {one.split(">")[0] for one in extras["foreign"]} == {"py-pde", "exponax"}
    assert not set(extras["foreign"]) & set(extras["all"])


# --- what is right ------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("found, truth, coefficients", [
    (["u*u_x", "u_xx"], {"(u^2)_x": -0.5, "u_xx": 0.1}, [-1, 0.1]),
    (["(u^2)_x"], {"u*u_x": -6}, [-3]),
    (["u*u_xx", "(u^2)_xx"], {"u_x^2": -0.5}, [0.5, -0.25]),
    (["u*u_xx", "(u^2)_xx"], {"(u^2)_xx": 0.5}, None),
    (["u*u_x", "u"], {"(u^2)_x": -0.5}, None),
    (["u*u_x"], {"(u^2)_x": -0.5, "u_xx": 0.1}, None),
    (["u*u_x", "(u^2)_x"], {"(u^2)_x": -0.5}, None),
    (["1", "u"], {"1": 0.04, "u": -0.04}, [0.04, -0.04]),
    ([], {"u": 1}, None),
])
def test_terms_are_right_if_they_make_the_true_ones(found, truth, coefficients):
    coef = foreign.expected(found, truth)
    assert (coef is None) == (coefficients is None)
    if coef is not None: assert coef == pytest.approx(coefficients)


def test_another_true_pde_of_the_same_field_counts():
    said = ["(u*w)_x", "(v*w)_y", "w_xx", "w_yy"]
    assert foreign.truth_of(FLOW, "w_t", said) == pytest.approx([-1, -1, 3e-4, 3e-4])
    assert foreign.truth_of(FLOW, "w_t", ["u*w_x", "v*w_y", "w_xx", "w_yy"]) == pytest.approx([-1, -1, 3e-4, 3e-4])
    assert foreign.truth_of(FLOW, "u_t", ["u_x"]) is None


def chosen(left, word="clear", std=0.01, **terms):
    "A selection as far as the board looks at it."
    names, coef = list(map(parse_term, terms)), list(terms.values())
    equation = Equation(left, tuple(names), tuple(coef), (std,)*len(coef))
    numbers = {"terms": names, "coef": coef, "std": [std]*len(coef)}
    path = SimpleNamespace(system=SimpleNamespace(target=left))
    return SimpleNamespace(path=path, **numbers, verdict=Verdict(word), equation=equation)


def test_a_run_is_judged():
    row = foreign.judge(BURGERS, {"u": chosen("u_t", **{"u*u_x": -1.01, "u_xx": 0.06})})
    assert row["right"] and row["verdict"] == "clear" and not row["wrong_clear"]
    assert row["error"] == pytest.approx((1 + 100)/2) and row["inside"] == 0.5
    assert row["z"] == "u*u_x -1; u_xx 3"


def test_clear_is_wrong_where_the_equation_is_or_nobody_can_tell():
    assert foreign.judge(BURGERS, {"u": chosen("u_t", u_x=-1)})["wrong_clear"]
    assert not foreign.judge(BURGERS, {"u": chosen("u_t", "fragile", u_x=-1)})["wrong_clear"]
    assert not foreign.judge(BURGERS, {"u": chosen("u_tt", "fragile", u_xx=0.03)})["right"]
    truth = {"u*u_x": 6, "u_xxx": -1}
    assert foreign.judge(SOLITON, {"u": chosen("u_t", **truth)})["wrong_clear"]
    vorticity = chosen("w_t", **{"u*w_x": -1, "v*w_y": -1, "w_xx": 3e-4, "w_yy": 3e-4})
    one = foreign.judge(FLOW, {"w": vorticity, "u": chosen("u_t", "fragile", u_x=1)})
    other = foreign.judge(FLOW, {"w": vorticity, "u": chosen("u_t", "clear", u_x=1)})
    assert one["right"] and not one["wrong_clear"] and other["wrong_clear"]


def test_an_error_is_a_refusal(monkeypatch):
    def refuse(field): raise ArgumentError("field", "is too short", "give more")
    monkeypatch.setattr(foreign.ubic, "discover", refuse)
    row = foreign.ours(BURGERS, None)
    assert row["verdict"] == "refused" and "too short" in row["reasons"] and not row["right"]


def test_names_of_pysindy_are_read():
    names = "u", "u^2", "u v", "u_1", "v_12", "u^2v_11", "u vv_2"
    assert [spelled(name, ["x", "y"]) for name in names] == ["u", "u^2", "u*v", "u_x", "v_xy", "u^2*v_xx", "u*v*v_y"]


def test_a_peer_is_asked_only_what_it_can_pose():
    def library(*terms): return {one for term in terms for one in parse_term(term).expanded()}
    assert foreign.posed(BURGERS, library("u*u_x", "u_xx", "u"))
    assert not foreign.posed(BURGERS, library("u_xx", "u"))
    assert not foreign.posed(CASES["exponax: wave"], library("u_xx"))
    assert not foreign.posed(CASES["py-pde: KPZ, plane"], library("u_xx", "u_yy", "u*u_xx", "u*u_yy"))


# --- runs ---------------------------------------------------------------------------------------------------------

def test_runs_go_on_where_they_stopped():
    every = foreign.left_to_do([BURGERS], foreign.NOISE, [])
    assert len(every) == 1 + 4*3 and every[0] == (BURGERS.name, 0, 0)
    done = [{"case": name, "noise": noise, "seed": seed} for name, noise, seed in every[:5]]
    assert foreign.left_to_do([BURGERS], foreign.NOISE, done) == every[5:]


def test_held_out_cases_run_only_when_asked_for(monkeypatch):
    monkeypatch.setattr(foreign_fields, "missing", lambda case: "")
    assert not any(case.held_out for case in foreign.available(None, held_out=False))
    assert {case.name for case in foreign.available(None, held_out=True)} == set(CASES)
    with pytest.raises(ArgumentError, match="no case"): foreign.available(["nothing"], held_out=False)


@pytest.fixture(scope="module")
def runs(): return pd.read_csv(foreign.RUNS)


def test_rows_are_of_known_cases_and_whole(runs):
    assert not runs.duplicated(foreign.ORDER).any() and set(runs["case"]) <= set(CASES)
    assert set(runs["noise"]) <= set(foreign.NOISE) and set(runs["verdict"]) <= set(foreign.VERDICTS)
    assert runs["package"].nunique() == 1
    for name, part in runs.groupby("case"):
        assert set(part["set"]) == {CASES[name].set} and set(part["identified"]) == {CASES[name].identified}
    right = runs[runs["right"]]
    assert right["error"].notna().all() and right["inside"].between(0, 1).all() and right["z"].str.len().gt(0).all()
    assert runs.loc[~runs["right"], "error"].isna().all()


def test_summary_counts_the_rows(runs):
    table = foreign.summary(runs)
    for name, part in runs.groupby("set"):
        asked = part[part["identified"]]
        total, levels = table.loc[(name, "all")], table.loc[name].drop("all")
        assert total["right"] == f"{asked['right'].sum()} of {len(asked)}"
        assert total["wrong clear"] == part["wrong_clear"].sum() == levels["wrong clear"].sum()
        counts = np.array([list(map(int, cell.split(" of "))) for cell in levels["right"]])
        assert tuple(counts.sum(axis=0)) == (asked["right"].sum(), len(asked))
