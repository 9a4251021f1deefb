"""Write RESULTS.md: every published number beside ours.

Ours is read from the saved results of full runs and never typed in.
"""
import argparse
import json
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
from run_notebooks import fingerprint
from ubic.criterion import improvements
from ubic.files import write_atomically
from ubic.recipes import published_numbers

NBS = ROOT / "nbs"
TARGET = ROOT / "RESULTS.md"
TITLES = {
    "burgers": "Burgers",
    "kdv": "Korteweg–de Vries",
    "ks": "Kuramoto–Sivashinsky",
    "navier_stokes": "Navier–Stokes",
    "reaction_diffusion": "Reaction–diffusion",
    "gray_scott": "Gray–Scott",
}
SYSTEMS = ("reaction_diffusion", "gray_scott")  # a name of the unknown belongs to these
NAMES = {
    "lam": "λ",
    "size": "terms",
    "uncertainty": "U",
    "number": "rate over numbers, %",
    "percentile": "rate over percentiles, %",
    "%CE": "%CE",
    "tau0": "τ₀ from P75",
    "largest lam": "largest λ",
    "data": "loss, data",
    "physics": "loss, equation",
    "training": "terms, training rows",
    "validation": "terms, validation rows",
    "PIP": "probability",
    "factor": "uncertainty factor",
}
VERDICTS = {True: "yes", False: "**no**", None: ""}
PLACE = ["experiment", "dataset", "target", "denoised", "key", "quantity"]
KEYS = {  # others are sizes
    "noise": "{} % noise",
    "slab_terms": "`{}`",
    "horseshoe": "`{}`",
    "relevance": "threshold {}",
    "refits": "{}",
    "splits": "{}",
    "split_curves": "{}",
    "variants": "{}",
    "starts": "{} constants",
    "parts": "{} part",
}
SECTIONS = [  # title, where it is in the paper, experiments, notebook
    ("Denoising table", "Main text, Table 2 and Figures 2 and 4", ["denoising"], "paper/denoising_table"),
    ("BIC and uncertainty along the paths", "Main text, Figures 2 and 4", ["curves", "tuning"], "supplement/g_ubic"),
    ("Extreme noise", "Main text, Figure 3, and supplement, Figure 13", ["noise"], "supplement/robustness"),
    ("Simulation by networks", "Main text, Table 3, and supplement, Table 6", ["pinn", "parts"], "paper/simulation"),
    ("Generalised criterion", "Supplement, Figure 5", ["gamma"], "supplement/g_ubic"),
    ("UWAIC", "Supplement, Figure 6", ["waic", "predictive", "waic_figure"], "supplement/uwaic"),
    ("Spike and slab", "Supplement, Figures 7 to 9", ["slab_terms", "slab_subsets"], "supplement/spike_slab"),
    ("Horseshoe", "Supplement, Figure 10", ["horseshoe"], "supplement/horseshoe"),
    (
        "Threshold sparse Bayesian regression",
        "Supplement, Figure 11",
        ["relevance", "relevance_uncertainty"],
        "supplement/threshold_ard",
    ),
    ("Accuracy of the coefficients", "Supplement, Table 4", ["refits"], "supplement/accuracy"),
    ("Cross-validation", "Supplement, Figure 12", ["splits", "split_curves"], "supplement/cross_validation"),
    ("Simulation", "Supplement, Table 5", ["simulations", "variants", "intercept", "starts"], "supplement/simulation"),
    ("Sensitivity", "Supplement, Figure 14 and text", ["sensitivity"], "supplement/sensitivity"),
    ("Data", "Main text, Table 1", ["data"], "paper/denoising_table"),
    (
        "Numbers printed otherwise",
        "Printed numbers that the published code contradicts; in the sections above stand those of the code",
        ["printed"],
        "paper/denoising_table",
    ),
]


def read(file):
    "A saved table, empty if it is not there."
    return pd.read_csv(NBS / file) if (NBS / file).exists() else pd.DataFrame()


def melted(experiment, table, *quantities, key="", **fixed):
    "A wide table as places and values; `key` names its column of keys, `fixed` gives columns that it does not have."
    for row in table.to_dict("records"):
        place = {"target": "u", "denoised": True} | fixed | row
        found = row.get(key, "")
        shown = f"{found:g}" if key and not isinstance(found, str) else found
        where = (experiment, place["dataset"], place["target"], str(place["denoised"]), shown)
        for quantity in quantities: yield (*where, quantity), row[quantity]


def denoising():
    for name in TITLES: yield from melted("denoising", read(f"paper/results/{name}.csv"), "size", "%CE", "R_BIC", "lam")


def curves():
    yield from melted("curves", read("supplement/results/g_ubic_curves.csv"), "BIC", "uncertainty", key="size")
    plain = read("paper/results/navier_stokes_plain.csv")
    yield from melted("curves", plain, "BIC", key="size", dataset="navier_stokes", target="w", denoised=False)
    louder = read("supplement/results/robustness_curves.csv")
    if louder.empty: return
    noisy = louder[(louder["noise"] == 30) & ~louder["denoised"]]
    yield from melted("curves", noisy, "BIC", "uncertainty", key="size")


def tuning():
    along, rows = read("supplement/results/g_ubic_curves.csv"), read("supplement/results/sensitivity.csv")
    if along.empty or rows.empty: return
    counted = rows.groupby(["dataset", "target"])["rows"].first()
    for key, curve in along.groupby(["dataset", "target"]):
        bic, sizes = curve["BIC"].to_numpy(), curve["size"].to_numpy()
        penalty = np.log(counted[key]) * curve["uncertainty"].to_numpy()
        place = ("tuning", *key, "True", "")
        yield (*place, "tau0"), np.percentile(improvements(bic, sizes), 75)
        yield (*place, "largest lam"), np.log10(np.max(-bic / penalty))


def noise(): yield from melted("noise", read("supplement/results/robustness.csv"), "size", "%CE", "lam", key="noise")


def networks():
    rows = read("paper/results/pinn.csv")
    if len(rows): yield from melted("pinn", rows[rows["seed"] == 1234], "BIC", "data", "physics", key="size")


def generalised():
    steps = read("supplement/results/g_ubic_steps.csv")
    if steps.empty: return
    tuned = steps[steps["accepted"] & (steps["lam"] > 0)]
    smallest = tuned.groupby(["dataset", "target"], as_index=False)["lam"].min()
    yield from melted("gamma", smallest, "lam", denoised="")


def predictive():
    rows = read("supplement/results/uwaic.csv")
    if rows.empty: return
    for name, table in rows.groupby("dataset"):
        for quantity in ("WAIC", "UWAIC"):
            best = table[quantity].idxmin()
            yield ("waic", name, "u", "True", "", f"{quantity} size"), table["size"][best]
    yield from melted("predictive", rows, "elpd", "FV", key="size")
    yield from melted("waic_figure", rows, "WAIC", key="size")


def slab():
    for dataset, beta, of, probability in read("supplement/results/spike_slab.csv").itertuples(index=False):
        yield ("slab_subsets", dataset, "u", "True", str(of), f"beta {beta:g}"), probability
        yield ("slab_terms", dataset, "u", "True", str(of), "PIP"), probability


def shrinkage():
    rows = read("supplement/results/horseshoe.csv").rename(columns={"ours": "factor"})
    yield from melted("horseshoe", rows, "factor", key="term")


def relevance():
    fits = read("supplement/results/threshold_ard.csv")
    for threshold, rows in fits.groupby("threshold", sort=False) if len(fits) else ():
        sizes = [*rows["size"], rows["size"].iloc[-1]]  # one more fit changes nothing
        for fit, size in enumerate(sizes, 1):
            yield ("relevance", "burgers", "u", "True", f"{threshold:g}", f"fit {fit}"), size
    uncertain = read("supplement/results/threshold_ard_uncertainty.csv")
    yield from melted("relevance_uncertainty", uncertain, "uncertainty", key="size", dataset="burgers")


def refits():
    rows = read("supplement/results/accuracy.csv").drop(columns="%CE", errors="ignore")
    yield from melted("refits", rows.rename(columns={"ours": "%CE"}), "%CE", key="method")


def splits():
    rows = read("supplement/results/cross_validation.csv")
    if rows.empty: return
    for (name, kind), table in rows.groupby(["dataset", "splits"]):
        for half in ("training", "validation"):
            best = table[half].idxmin()
            yield ("splits", name, "u", "True", kind, half), table["size"][best]
        for size, value in zip(table["size"], table["validation"]):
            yield ("split_curves", name, "u", "True", kind, str(size)), value


def simulations():
    programs = {"Dedalus": "dedalus", "Chebfun": "spectral"}
    for program, file in programs.items():
        rows = read(f"supplement/results/simulation_{file}.csv").rename(columns={"BIC": program})
        for experiment in ("simulations", "printed"): yield from melted(experiment, rows, program, key="size")

    refitted = read("supplement/results/simulation_refits.csv")
    for equation, term, coefficient in refitted.itertuples(index=False):
        if (equation, term) == ("two terms and intercept", "1"):
            yield ("intercept", "kdv", "u", "True", "", "intercept"), coefficient

    with_intercept = read("supplement/results/simulation_intercept.csv")
    words = {2: "smaller", 3: "larger"}
    for variant, size, score in with_intercept.itertuples(index=False):
        yield ("variants", "kdv", "u", "True", variant, words[size]), score

    names = {title: name for name, title in TITLES.items()}
    for label, start, size, score in read("supplement/results/simulation_starts.csv").itertuples(index=False):
        yield ("variants", names.get(label, label), "u", "True", start, size), score


def starts():
    found = read("09_paper/results/closed_forms.csv")
    for name, rows in found.groupby("dataset") if len(found) else ():
        for constants in ("raw", "refined"):
            formula = rows.set_index("seed")["formula"][0]
            yield ("starts", name, "u", "True", constants, "formula"), formula


def sensitivity():
    rows = read("supplement/results/sensitivity.csv")
    if rows.empty: return
    rates = 100 * rows[rows["mode"] == "paper"].groupby(["dataset", "target", "scan"])["success"].mean()
    for (name, target, scan), rate in rates.items(): yield ("sensitivity", name, target, "", "", scan), rate


def data():
    rows = read("paper/results/data.csv").fillna({"target": ""})
    for name, target, quantity, value in rows.itertuples(index=False):
        yield ("data", name, target, "", "", quantity), value


def parts():
    rows = read("paper/results/pinn_parts.csv")
    for name, part, quantity, value in rows.itertuples(index=False):
        yield ("parts", name, "u", "True", part, quantity), value


def otherwise():
    for place, value in denoising(): yield ("printed", *place[1:]), value


READERS = (
    denoising,
    curves,
    tuning,
    noise,
    networks,
    generalised,
    predictive,
    slab,
    shrinkage,
    relevance,
    refits,
    splits,
    simulations,
    starts,
    sensitivity,
    data,
    parts,
    otherwise,
)


def ours():
    "Place → our number, from everything that is saved."
    return {place: value for reader in READERS for place, value in reader()}


def formula_distance(dataset, paper, found):
    "How far two formulas are apart on the grid of a dataset, relative to the first."
    from sympy import lambdify, sympify
    with np.load(NBS / f"paper/results/{dataset}.npz") as file: x = file["x"]
    first, second = (lambdify("x", sympify(formula))(x) for formula in (paper, found))
    return float(np.linalg.norm(second - first) / np.linalg.norm(first))


def percent(share): return "infinite" if math.isinf(share) else f"{float(f'{100 * share:.2g}'):g} %" # two digits of it


def judge(row, found):
    "Difference relative to the published number, as shown, and whether it is within the tolerance."
    relative, tolerance = row.tolerance.endswith("%"), float(row.tolerance.rstrip("%"))
    if row.quantity == "formula":
        share = formula_distance(row.dataset, row.value, found)
        return percent(share), 100 * share <= tolerance
    paper, found = float(row.value), float(found)
    if paper == found: return "0", True
    if math.isinf(paper) or math.isinf(found): return "infinite", False
    difference = abs(found - paper)
    share = difference / abs(paper) if paper else math.inf
    return percent(share), 100 * share <= tolerance if relative else difference <= tolerance * (1 + 1e-9)


def claimed(row):
    "A tolerance as shown: in percent of the published number, and before that in its own units where it is in these."
    if row.tolerance == "0": return "exact"
    if row.tolerance.endswith("%"): return row.tolerance.replace("%", " %")
    paper = float(row.value)
    if not paper: return row.tolerance
    share = percent(float(row.tolerance) / abs(paper))
    return f"{row.tolerance} ({share})"


def compared():
    "The published numbers, each with ours, their difference and whether it is tolerated; None where ours is not saved."
    table, saved = published_numbers(), ours()
    found, shown, within = [], [], []
    for row in table.itertuples():
        place = tuple(getattr(row, column) for column in PLACE)
        value = saved.get(place)
        difference, good = ("", None) if value is None else judge(row, value)
        found.append(value)
        shown.append(difference)
        within.append(good)
    found, within = (pd.Series(values, dtype=object) for values in (found, within))
    return table.assign(ours=found, difference=shown, within=within)


def number(value, like):
    "A number with one digit more than the published one has."
    if isinstance(value, str): return f"`{value}`"
    if value is None: return "not saved yet"
    if math.isinf(value): return "∞" if value > 0 else "−∞"
    if like == "inf": return f"{value:.8g}"
    mantissa = like.lstrip("-").split("e")[0].replace(".", "").lstrip("0")
    text = f"{float(value):.{max(len(mantissa) + 1, 3)}g}"
    return f"{float(text):.0f}" if "e+" in text else text


def named(row):
    "The quantity of a row, in words."
    if row.experiment == "split_curves": return f"BIC at size {row.quantity}"
    return NAMES.get(row.quantity, row.quantity.replace("beta", "best subset, β ="))


def what(row):
    "What a number is, in words."
    title = TITLES[row.dataset]
    if row.target and row.dataset in SYSTEMS: title += f", {row.target}"
    words = [title]
    if row.experiment in ("denoising", "curves", "noise", "refits") or row.quantity == "%CE":
        words.append("denoised" if row.denoised == "True" else "noisy")
    words.append(named(row))
    if row.key: words.append(KEYS.get(row.experiment, "size {}").format(row.key).replace("_weak_", " weak "))
    return "; ".join(words)


def line_of(row, remarks):
    "One number as a line of a table, with a pointer to its remark."
    paper = f"`{row.value}`" if row.quantity == "formula" else row.value.replace("inf", "∞")
    pointer = f"({remarks.index(row.note) + 1})" if row.note else ""
    cells = (
        what(row),
        paper,
        number(row.ours, row.value),
        row.difference,
        claimed(row),
        VERDICTS[row.within],
        row.source,
        pointer,
    )
    return f"| {' | '.join(cells)} |"


def numbers(rows):
    "The table of some numbers, and the remarks it points to."
    remarks = list(dict.fromkeys(note for note in rows["note"] if note))
    head = [
        "| what | paper | ours | relative difference | tolerance | within | source | why |",
        "|---|---|---|---|---|---|---|---|",
    ]
    lines = [line_of(row, remarks) for row in rows.itertuples()]
    below = [f"({count}) {remark}\n" for count, remark in enumerate(remarks, 1)]
    return "\n".join([*head, *lines, "", *below])


def counts(rows):
    "How many numbers, how many within their tolerance, outside with a reason, outside without, not saved yet."
    missing, within, explained = rows["within"].isna(), rows["within"].eq(True), rows["note"].ne("")
    outside = ~missing & ~within
    return len(rows), *(int(which.sum()) for which in (within, outside & explained, outside & ~explained, missing))


COUNTED = ["numbers", "within tolerance", "outside, explained", "outside, not explained", "not saved yet"]


def counted(groups, total):
    """The table of how many numbers each group has, and how many of them are within their tolerance.

    Without a line for all it has no columns of nothing but zeros.
    """
    found = {title: counts(rows) for title, rows in groups.items()}

    def needed(k): return total is not None or k < 2 or any(row[k] for row in found.values())

    shown = [k for k in range(len(COUNTED)) if needed(k)]
    lines = ["| | " + " | ".join(COUNTED[k] for k in shown) + " |", "|---" * (len(shown) + 1) + "|"]
    lines += [f"| {title} | {' | '.join(str(row[k]) for k in shown)} |" for title, row in found.items()]
    if total is not None: lines.append(f"| **all** | {' | '.join(f'**{count}**' for count in counts(total))} |")
    return "\n".join(lines)


def folded(summary, text):
    "A text behind a triangle, on the site and on a git host."
    return f"<details>\n<summary>{summary}</summary>\n\n{text.rstrip()}\n\n</details>\n"


def section(rows):
    "How many numbers agree for each dataset; and all of them, folded."
    groups = {TITLES[name]: rows[rows["dataset"] == name] for name in rows["dataset"].unique()}
    return f"{counted(groups, None)}\n\n{folded(f'All {len(rows)} numbers, paper and ours', numbers(rows))}"


def outside(parts):
    "Which reasons there are for numbers outside their tolerance, how many have them, and where."
    apart = pd.concat([rows[rows["within"].eq(False)].assign(section=title) for title, rows, _ in parts])
    lines = ["| why | numbers | of | where |", "|---|---|---|---|"]
    for note, rows in apart.groupby("note", sort=False):
        datasets = ", ".join(dict.fromkeys(map(TITLES.get, rows["dataset"])))
        sections = ", ".join(dict.fromkeys(rows["section"]))
        lines.append(f"| {note} | {len(rows)} | {datasets} | {sections} |")
    return folded(f"{len(lines) - 2} reasons for {len(apart)} numbers", "\n".join(lines))


def unchanged(notebook, run):
    "Whether a notebook and the code that it uses are still what a recorded run has seen."
    return notebook.exists() and fingerprint(notebook).items() <= run.items()


def origin():
    "Which full runs the notebooks show, in a sentence made from their record."
    if not (NBS / "runs.json").exists(): return "No full run of the notebooks is recorded yet."
    runs = json.loads((NBS / "runs.json").read_text(encoding="utf-8"))
    present = all(unchanged(ROOT / name, run) for name, run in runs.items())
    days = sorted(run["date"] for run in runs.values())
    between = " to ".join(dict.fromkeys((days[0], days[-1])))
    since = "no code that they use has changed since" if present else "some code that they use has changed since"
    hours = sum(run["seconds"] for run in runs.values()) / 3600
    return (
        f"The outputs of all {len(runs)} notebooks come from `make paper`, {between}; {since}. "
        f"It took {hours:.1f} hours of notebooks, two at a time (`nbs/runs.json`)."
    )


def chapters(table):
    "All that there is to tell, by heading: the summary, the reasons, and the numbers of each section."
    groups = {title: table[table["experiment"].isin(experiments)] for title, _, experiments, _ in SECTIONS}
    summary = counted(groups, table)
    reasons = outside([(title, rows, place) for (title, place, *_), rows in zip(SECTIONS, groups.values())])
    return {"Summary": summary, "Outside, and why": reasons, **{title: section(rows) for title, rows in groups.items()}}


def page(table):
    "The whole of RESULTS.md."
    told = chapters(table)
    opening = (
        "Every number of the paper and its supplement stands beside ours in the notebook "
        "[All results](nbs/paper/all_results.ipynb), with its source, the tolerance that is claimed, and the reason "
        "where ours is outside. This page sums them up. It is written by `python tools/results.py`: the published "
        "numbers come from `ubic/published.csv`, ours from the tables that full runs of the notebooks leave beside "
        f"them, in the folders `nbs/**/results`. Nothing is typed in. {origin()}"
    )
    return f"""# Results

{opening}

## Summary

{told["Summary"]}

## Outside, and why

{told["Outside, and why"].rstrip()}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if RESULTS.md is not current")
    table = compared()
    text = page(table)
    if parser.parse_args().check:
        current = TARGET.exists() and TARGET.read_text(encoding="utf-8") == text
        if not current: sys.exit("RESULTS.md is not current: run `python tools/results.py`.")
    else: write_atomically(TARGET, lambda file: file.write(text.encode()))
    total, within, explained, unexplained, missing = counts(table)
    print(
        f"{total} numbers: {within} within tolerance, {explained} outside and explained, "
        f"{unexplained} outside and not explained, {missing} not saved yet"
    )


if __name__ == "__main__": main()
