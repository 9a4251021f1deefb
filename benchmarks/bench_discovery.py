"""From a noisy field to its equation, beside the usual script of PySINDy with the same candidates.

Which equation is found, and how far off its coefficients are.
"""
from functools import partial

import numpy as np

from benchmarks import peers
from benchmarks.harness import compare
from ubic import datasets, discover
from ubic.field import add_noise, true_pde
from ubic.terms import coefficient_error

# Of the peer: boxes, smallest coefficient, half-width of a box; the best in hindsight of those tried, one for all.
ROWS, THRESHOLD, SHARE = 1000, 0.05, 0.1
FIRST = {"power": 2, "constant": False, "fluxes": False} # our candidates on a line, as the peer has them
TITLES = {
    "burgers": "Burgers",
    "kdv": "Korteweg–de Vries",
    "ks": "Kuramoto–Sivashinsky",
    "reaction_diffusion": "reaction–diffusion",
}


def found(equations, truth):
    "In words: right or not, and the mean error of the coefficients."
    errors = np.concatenate([coefficient_error(equations[name], truth[name]) for name in truth])
    if np.isfinite(errors).all(): return f"right, coefficients {errors.mean():.2g} % off"
    many, true = (sum(map(len, terms.values())) for terms in (equations, truth))
    return f"wrong, {many} terms instead of {true}"


def from_field_to_equation(name, noise, derivative_order, **settings):
    clean = getattr(datasets, name)(**settings)
    field, truth = add_noise(clean, noise, seed=0), true_pde(clean)
    given = FIRST if len(truth) == 1 else {"terms": peers.terms(field, derivative_order)}
    def equation(selection): return dict(zip(map(str, selection.terms), selection.coef))
    def ours(): return {target: equation(selection) for target, selection in discover(field, **given).items()}
    def theirs(): return peers.road(field, ROWS, THRESHOLD, derivative_order, share=SHARE)
    def agreement(mine, theirs): return f"ours {found(mine, truth)}; peer {found(theirs, truth)}"
    points = " × ".join(map(str, field.sizes.values()))
    task = f"{TITLES[name]}, {points} points with {noise} % noise, to its equation"
    return compare(task, f"PySINDy weak form, {ROWS} boxes, and STLSQ", ours, theirs, agreement, repeats=3)


def jobs(full):
    for name, derivative_order in (("burgers", 2), ("kdv", 4), ("ks", 4)):
        yield partial(from_field_to_equation, name, 30, derivative_order)
    if full: yield partial(from_field_to_equation, "reaction_diffusion", 10, 2, size="small")
