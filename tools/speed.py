"""Write the paragraphs of nbs/index.ipynb on accuracy and speed from the tables that full runs leave behind, so that no result is typed in."""
import re
from functools import reduce

import numpy as np
import pandas as pd

from generated import NOTEBOOKS, ROOT, keep_in_step, with_prose

INDEX, RESULTS = NOTEBOOKS / "index.ipynb", ROOT / "benchmarks" / "results.csv"
RUNS = [ROOT / "benchmarks" / name for name in ("scoreboard.csv", "scoreboard_fresh.csv")]
SEEDS = [NOTEBOOKS / "10_road" / "results" / name for name in ("seeds.csv", "systems.csv")]
PUBLISHED = ROOT / "ubic" / "published.csv"
OPTIMIZERS = ("STLSQ", "SSR", "FROLS", "MIOSR") # of PySINDy


def number(value):
    "Two digits, thousands apart."
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}".replace(",", " ") if rounded >= 10 else f"{rounded:g}"


def duration(seconds): return f"{number(1000*seconds)} ms" if seconds < 0.1 else f"{number(seconds)} s"


def find(table, name, peer):
    "The one row of a task and a peer, and what the pattern of its name has caught."
    found = [(row, caught.groups()) for row in table.itertuples() if row.peer.startswith(peer) and (caught := re.match(name, row.name))]
    if len(found) != 1: raise SystemExit(f"{RESULTS.relative_to(ROOT)} has {len(found)} rows {name!r} beside {peer!r}; `make bench-full` measures all of them.")
    return found[0]


def faster(row):
    "A ratio in words, for one that is a gain in every round."
    if row.ratio_low <= 1: raise SystemExit(f"{row.name} is not faster than {row.peer} in every round; change the paragraph in tools/speed.py.")
    return f"{number(row.ratio)} times faster"


def paragraph(table):
    "The paragraph, all its numbers from the table."
    search, (rows, p) = find(table, r"exact best subsets, (\d+) rows, (\d+) candidates", "lstsq")
    line, (boxes,) = find(table, r"weak library of burgers.* (\d+) boxes", "PySINDy")
    plane, (more,) = find(table, r"weak library of reaction–diffusion.* (\d+) boxes", "PySINDy")
    draws, _ = find(table, r"horseshoe", "PyMC")
    roads = [find(table, name, "PySINDy")[0] for name in ("Burgers.* to its equation", "Korteweg–de Vries.* to its equation", "Kuramoto–Sivashinsky.* to its equation")]
    times = [duration(row.ours_s) for row in roads]
    return (f"- **Speed.** Beside other packages, each pair timed in turns on one core by `make bench-full` ([benchmarks](beyond/benchmarks.ipynb)): the exact search over {p} candidates and {number(int(rows))} rows takes "
            f"{duration(search.ours_s)}, {faster(search)} than least squares on every subset; the weak library of {number(int(boxes))} boxes is {faster(line)} than PySINDy's with the same numbers, that of {number(int(more))} boxes and 76 candidates in the plane "
            f"{faster(plane)}; independent draws under the horseshoe come {faster(draws)} than from the model written row by row. From noisy data to the equation takes {times[0]} for Burgers, {times[1]} for Korteweg–de Vries and {times[2]} for Kuramoto–Sivashinsky.")


def right(errors): return f"{int(np.isfinite(errors).sum())} of {len(errors)}"


def listed(values): # in percent, two digits
    *most, last = (f"{float(f'{value:.2g}'):g}" for value in values)
    return f"{', '.join(most)} and {last} %" if most else f"{last} %"


def accuracy(seeds, systems, published):
    "The paragraph on the equations of the paper, likewise."
    paper = published[(published["experiment"] == "denoising") & (published["quantity"] == "%CE") & published["denoised"]].groupby("dataset", sort=False)["value"].apply(lambda values: listed(values.astype(float)))
    loud = seeds[seeds["noise %"] == 30].groupby("PDE")["error %"].mean()
    ours = systems.groupby(["system", "target"])["error %"].mean().groupby("system").apply(listed)
    on_a_line = ", ".join(f"{title} {listed([loud[name]])} ({paper[name]})" for name, title in (("burgers", "Burgers"), ("kdv", "KdV"), ("ks", "Kuramoto–Sivashinsky")))
    in_space = ", ".join(f"{title} {ours[name]} ({paper[name]})" for name, title in (("reaction_diffusion", "reaction–diffusion"), ("navier_stokes", "Navier–Stokes"), ("gray_scott", "Gray–Scott")))
    return (f"- **The paper's equations.** The three one-dimensional PDEs of the paper, defaults only, no denoising, ten noise seeds that were used for nothing else: the true PDE is chosen in {right(seeds['error %'])} runs at 10, 30 and 100 % noise. Mean coefficient errors at 30 %, in brackets those of the paper after denoising: {on_a_line}. "
            f"On small grids of its three systems in two and three dimensions, with the paper's noise and candidates and five noise seeds each, {right(systems['error %'])} equations are right. Mean errors, in brackets those of the paper after denoising, on finer grids: {in_space}. The [pipeline](10_road/01_pipeline.ipynb) chapter has the tables. "
            "Following the paper's own recipes instead gives its published numbers back, and where the data are not public, numbers of our own data: [all six](paper/denoising_table.ipynb) side by side.")


def scores(first, second):
    "The paragraph on the scoreboard, likewise."
    peers = max(int(first[column].sum()) for column in first if column.startswith(OPTIMIZERS))
    clear = [table[table["verdict"] == "clear"]["ubic"] for table in (first, second)]
    if not clear[0].all(): raise SystemExit("A clear verdict was wrong on the scoreboard; change the paragraph in tools/speed.py.")
    return (f"- **Other equations.** On fourteen equations that are not in the paper, waves and complex fields among them, at 1 to 50 % noise and with one setting for all, `discover` finds the true equation in {first['ubic'].sum()} of {len(first)} runs, "
            f"the best optimizer of PySINDy, with a threshold tuned in hindsight, in {peers}; and where the verdict says *clear*, it was right each time, in {len(clear[0])} runs. A second set of fields and seeds, which suggested none of its rules, gives {second['ubic'].sum()} of {len(second)}, "
            f"and {clear[1].sum()} of {len(clear[1])} ([scoreboard](beyond/scoreboard.ipynb)).")


def replaced(prose, fresh):
    "A text with the paragraph that begins with the same bold words replaced."
    begin = re.match(r"- \*\*.*?\*\*", fresh)[0]
    return re.sub(rf"^{re.escape(begin)}.*?(?=\n- |\Z)", lambda _: fresh, prose, flags=re.MULTILINE | re.DOTALL)


def front_page():
    "The front page with its paragraphs made again."
    fresh = accuracy(*map(pd.read_csv, [*SEEDS, PUBLISHED])), paragraph(pd.read_csv(RESULTS)), scores(*map(pd.read_csv, RUNS))
    return with_prose(INDEX, lambda prose: reduce(replaced, fresh, prose))


if __name__ == "__main__": keep_in_step({INDEX: front_page()}, __doc__)
