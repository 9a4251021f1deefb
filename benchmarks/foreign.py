"""Fields that this project did not make, judged with one bare call `ubic.discover(field)`: how often is one found?

usage: python -m benchmarks.foreign [--again] [--held-out] [--cases …] [--noise …] [--workers …]
       python -m benchmarks.foreign --confirm

Writes benchmarks/foreign.csv, one row per run, and goes on where an interrupted run of the same package has stopped;
--again starts anew. Every third simulated field is held out and runs with --held-out only, when the rules of the
package are settled. With --confirm nothing is discovered: the true terms are fitted to each clean field, and how far
their coefficients are off is written to benchmarks/foreign_fields.csv.

An equation is right if its terms make the true ones when both are written out as sums of products, with no term to
spare: (u^2)_x and u*u_x are the same. Where the data cannot tell the true PDE from others, right is not asked for, but
clear is wrong.
"""
import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

import ubic
from benchmarks import foreign_fields
from benchmarks.board import keep, kept, run_all, version
from benchmarks.peers import WeakSindy
from ubic.ground.checks import ArgumentError
from ubic.ground.storage import brief_reason
from ubic.language.terms import expanded_sum, parse_term

HERE = Path(__file__).parent
RUNS, FIELDS = HERE/"foreign.csv", HERE/"foreign_fields.csv"
NOISE = 0, 1, 10, 30, 50
SEEDS = 0, 1, 2
ORDER = ["case", "noise", "seed"]
INSIDE = 1.96 # standard deviations of an interval of 95 %
SETS = "files", "simulators", "held out"
VERDICTS = "clear", "fragile", "ambiguous", "refused" # from the best
PEERS = {"PySINDy, threshold 0.1": 0.1, "PySINDy, threshold 0.01": 0.01} # its default, and that of its feature overview


# --- what is right ------------------------------------------------------------------------------------------------

def expected(terms, truth):
    "The coefficients with which some terms make the true ones; None if they cannot, or if one is not needed."
    found, true = [expanded_sum({str(term): 1}) for term in terms], expanded_sum(truth)
    if not (found and true): return None
    rows = sorted({*true, *(one for each in found for one in each)}, key=str)
    X = np.array([[each.get(row, 0) for each in found] for row in rows], float)
    y = np.array([true.get(row, 0) for row in rows], float)
    coef, _, rank, _ = np.linalg.lstsq(X, y, rcond=None)
    if rank < len(found) or not np.allclose(X @ coef, y, rtol=1e-9, atol=1e-12): return None
    return None if np.any(np.abs(coef) < 1e-9*np.abs(y).max()) else coef


def truth_of(case, left, terms):
    "The first of the true PDEs that some terms make, and their coefficients in it; None if there is none."
    for truth in (case.truth, *case.also):
        coef = expected(terms, truth.get(left, {}))
        if coef is not None: return coef
    return None


# --- one run ------------------------------------------------------------------------------------------------------

def measure(selection, true):
    "Errors in percent and in standard deviations."
    coef, std = np.asarray(selection.coef), np.asarray(selection.std)
    return 100*np.abs(coef/true - 1), (coef - true)/std


def judge(case, found):
    "What to keep of a discovery."
    chosen = {selection.path.system.target: selection for selection in found.values()}
    made = {left: truth_of(case, left, one.terms) for left, one in chosen.items()}
    asked = [left for left in chosen if left.split("_")[0] not in case.known]
    right = set(asked) == set(case.truth) and all(made[left] is not None for left in asked)
    measured = {left: measure(chosen[left], made[left]) for left in asked if made[left] is not None}
    z = [f"{term} {value:.3g}" for left, (_, far) in measured.items() for term, value in zip(chosen[left].terms, far)]
    inside = [abs(value) <= INSIDE for _, far in measured.values() for value in far]
    errors = [error for off, _ in measured.values() for error in off]
    verdicts = [str(chosen[left].verdict) for left in asked]
    sure = [left for left, one in chosen.items() if one.verdict == "clear"]
    return {
        "right": right,
        "error": float(np.mean(errors)) if right else np.nan,
        "z": "; ".join(z),
        "inside": float(np.mean(inside)) if inside else np.nan,
        "verdict": max(verdicts, key=VERDICTS.index),
        "wrong_clear": any(made[left] is None or not case.identified for left in sure),
        "reasons": "; ".join(reason for one in chosen.values() for reason in one.verdict.reasons),
        "equation": "; ".join(str(one.equation) for one in chosen.values()),
    }


def ours(case, field):
    "The bare call; an error is a refusal, and what it says is kept."
    start = time.perf_counter()
    try: found = judge(case, ubic.discover(field))
    except Exception as error:
        blank = {"right": False, "error": np.nan, "z": "", "inside": np.nan, "verdict": "refused", "wrong_clear": False}
        found = {**blank, "reasons": brief_reason(error), "equation": ""}
    return {**found, "seconds": round(time.perf_counter() - start, 1)}


def posed(case, library):
    "Whether a library of products holds all that the true PDE needs."
    first = all(left.count("t") == 1 for left in case.truth)
    return first and all(set(expanded_sum(truth)) <= library for truth in case.truth.values())


def theirs(case, field):
    "Whether each peer is right; None where its library cannot hold the truth."
    started = WeakSindy(field)
    library = {one for term in started.terms for one in parse_term(term).expanded()}
    if not posed(case, library): return dict.fromkeys(PEERS)
    def right(threshold):
        "Whether all equations are right with this threshold."
        found = started.fit(threshold)
        return all(truth_of(case, left, found[left.split("_")[0]]) is not None for left in case.truth)
    return {name: right(threshold) for name, threshold in PEERS.items()}


def peers(case, field):
    "The same; a peer that gives up has not found the equation."
    try: return theirs(case, field)
    except Exception as error:
        warnings.warn(f"{case.name}: {error}")
        return dict.fromkeys(PEERS, False)


def job(case, noise, seed):
    "One row of the table."
    case = {one.name: one for one in foreign_fields.cases()}[case]
    field = foreign_fields.field_of(case)
    if noise: field = ubic.add_noise(field, noise, seed=seed)
    about = {"case": case.name, "set": case.set, "identified": case.identified, "noise": noise, "seed": seed}
    with warnings.catch_warnings(action="ignore"): return {**about, **ours(case, field), **peers(case, field)}


# --- whether the truth is true ------------------------------------------------------------------------------------

def fit_of(case, field, left):
    "Weak least squares with the true terms of one unknown: term → coefficient, and the share that they leave."
    terms = list(case.truth[left])
    system = ubic.library.weak(field, left.split("_")[0], terms=terms, time_order=left.count("t"), known=case.known)
    columns = {str(term): column for term, column in zip(system.terms, system.X.T)}
    X = np.stack([columns[term] for term in terms], axis=1)
    size = np.linalg.norm(X, axis=0)
    coef = np.linalg.lstsq(X/size, system.y, rcond=None)[0]/size
    return dict(zip(terms, coef)), float(np.sum((X @ coef - system.y)**2)/np.sum(system.y**2))


def confirmation(case):
    "How far the coefficients of the clean field are from the true ones: a row per term."
    field = foreign_fields.field_of(case)
    for left, truth in case.truth.items():
        coef, left_over = fit_of(case, field, left)
        for term, true in truth.items():
            found = {"fitted": float(f"{coef[term]:.5g}"), "off": round(100*(coef[term]/true - 1), 2) + 0.0} # no -0.0
            about = {"case": case.name, "set": case.set, "identified": case.identified, "edges": case.edges}
            yield {**about, "left": left, "term": term, "true": true, **found, "left_over": float(f"{left_over:.2g}")}


def confirm(wanted) -> pd.DataFrame:
    "Write the table of all cases that can be had here."
    rows = [row for case in tqdm(wanted, desc="fields") for row in confirmation(case)]
    before = pd.read_csv(FIELDS).to_dict("records") if FIELDS.exists() else []
    done = {row["case"] for row in rows}
    keep([*rows, *(row for row in before if row["case"] not in done)], FIELDS, ["case", "left", "term"])
    return pd.read_csv(FIELDS)


# --- summary ------------------------------------------------------------------------------------------------------

def share(hits): return f"{int(hits.sum())} of {len(hits)}"


def one_line(runs):
    "The summary of some runs."
    asked = runs[runs["identified"]]
    right = asked[asked["right"]]
    each = [abs(float(value.split()[-1])) <= INSIDE for text in right["z"] for value in text.split("; ")]
    measured = {
        "wrong clear": int(runs["wrong_clear"].sum()),
        "clear where right": share(right["verdict"] == "clear"),
        "intervals that hold": share(pd.Series(each, dtype=bool)),
        "seconds, median": round(float(runs["seconds"].median()), 1),
    }
    can = {name: asked[name].dropna().astype(bool) for name in PEERS}
    return {"right": share(asked["right"]), **measured, **{name: share(hits) for name, hits in can.items()}}


def summary(runs) -> pd.DataFrame:
    "One line for each set and noise level, and one for all levels of a set."
    lines = {}
    for name in [name for name in SETS if name in set(runs["set"])]:
        part = runs[runs["set"] == name]
        for noise, some in part.groupby("noise"): lines[name, f"{noise} %"] = one_line(some)
        lines[name, "all"] = one_line(part)
    return pd.DataFrame(lines).T.rename_axis(["set", "noise"])


# --- program ------------------------------------------------------------------------------------------------------

def available(names, held_out):
    "The cases asked for whose fields can be had; what is missing is said once."
    every = foreign_fields.cases()
    unknown = set(names or ()) - {case.name for case in every}
    if unknown:
        raise ArgumentError("cases", f"has no case {', '.join(sorted(unknown))}", "see foreign_fields.cases()")
    chosen = [case for case in every if not names or case.name in names]
    lacks = {case.name: foreign_fields.missing(case) for case in chosen}
    for reason in dict.fromkeys(filter(None, lacks.values())): print(f"skipped: {reason}", file=sys.stderr)
    return [case for case in chosen if not lacks[case.name] and (held_out or not case.held_out)]


def left_to_do(wanted, noise, rows):
    "Runs that have no row yet, by noise, so that an interrupted board tells something."
    done = {tuple(row[name] for name in ORDER) for row in rows}
    every = [(case.name, level, seed) for level in noise for case in wanted for seed in (SEEDS if level else SEEDS[:1])]
    return [run for run in every if run not in done]


def main(again=False, held_out=False, cases=None, noise=NOISE, workers=2, file=RUNS) -> pd.DataFrame:
    "Run what is left to do, and return all runs."
    rows = [] if again else kept(file, version())
    wanted = available(cases, held_out)
    for case in wanted: foreign_fields.field_of(case) # simulated once, before the processes part
    return run_all(job, left_to_do(wanted, noise, rows), rows, file, ORDER, workers)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--again", action="store_true", help="forget earlier runs")
    parser.add_argument("--held-out", action="store_true", help="run the fields that are held out too")
    parser.add_argument("--confirm", action="store_true", help="fit the true terms to the clean fields, and stop")
    parser.add_argument("--cases", nargs="+", help="names of cases; all without it")
    parser.add_argument("--noise", nargs="+", type=int, default=NOISE, help="levels in percent")
    parser.add_argument("--workers", type=int, default=2)
    asked = vars(parser.parse_args())
    if asked.pop("confirm"): print(confirm(available(asked["cases"], held_out=True)).to_string(index=False))
    else: print(summary(main(**asked)).to_string())
