"""How often is the true PDE chosen on ten PDEs that are not in the paper, for several thresholds?

usage: python -m benchmarks.threshold

Writes benchmarks/threshold.csv, one row per run; the chapter on the criterion shows it.
"""
import pathlib
import warnings

import numpy as np
import pandas as pd
from tqdm import tqdm

import ubic
from benchmarks.scoreboard import random_waves
from ubic.files import write_atomically

FILE = pathlib.Path(__file__).with_name("threshold.csv")
THRESHOLDS = (0.01, 0.02, 0.05, 0.1, 0.2)


def cases():
    "Name, PDE, start, times and highest derivative among the candidates."
    rng = np.random.default_rng(5)
    yield "diffusion", {"u_xx": 0.3}, random_waves(rng, 20, 12, 1), np.linspace(0, 6, 121), 2
    yield "advection-diffusion", {"u_x": -1, "u_xx": 0.1}, random_waves(rng, 20, 12, 1), np.linspace(0, 6, 121), 2
    yield "Fisher", {"u": 1, "u^2": -1, "u_xx": 0.3}, random_waves(rng, 40, 10, 0.3, 0.4), np.linspace(0, 5, 151), 2
    yield "modified Burgers", {"u^2*u_x": -1, "u_xx": 0.1}, random_waves(rng, 20, 8, 1.3), np.linspace(0, 6, 151), 2
    yield "other Burgers", {"u*u_x": -0.7, "u_xx": 0.2}, random_waves(rng, 25, 8, 2), np.linspace(0, 8, 151), 2
    damped_kdv = {"u*u_x": -1, "u_xxx": -0.3, "u_xx": 0.05}
    yield "KdV-Burgers", damped_kdv, random_waves(rng, 25, 6, 2), np.linspace(0, 6, 201), 4
    yield "other KdV", {"u*u_x": -1, "u_xxx": -0.5}, random_waves(rng, 30, 5, 2), np.linspace(0, 8, 201), 4
    yield "dispersion", {"u_xxx": -0.4, "u_x": -0.5}, random_waves(rng, 25, 7, 2), np.linspace(0, 8, 201), 4
    yield "other KS", {"u*u_x": -1, "u_xx": -1, "u_xxxx": -1}, random_waves(rng, 64, 20, 2), np.linspace(0, 50, 251), 4
    yield "hyperdiffusion", {"u_xxxx": -0.1, "u": 0.2}, random_waves(rng, 20, 9, 2), np.linspace(0, 3, 201), 4


def scores(path, pde):
    "Whether each way of choosing from a path ends in the true terms."
    def right(k): return set(map(str, path.terms(k))) == set(pde)
    found = {f"unit-free, {tau0}": right(ubic.select(path, tau0=tau0).k) for tau0 in THRESHOLDS}
    plain = ubic.select(path, n_eff=None)
    return found | {
        "paper, 0.02": right(ubic.select(path, mode="paper").k),
        "BIC": right(int(plain.bic.argmin())),
        "on the path": any(right(k) for k in range(len(path.supports))),
    }


def main() -> pd.DataFrame:
    rows = []
    for name, pde, start, t, order in tqdm(list(cases()), desc="PDEs"):
        field = ubic.simulate(pde, start, t)
        for noise in (5, 20, 50, 100):
            for seed in range(3):
                noisy = ubic.add_noise(field, noise, seed=seed)
                path = ubic.best_subsets(ubic.library.weak(noisy, derivative_order=order))
                rows.append({"pde": name, "noise": noise, "seed": seed, **scores(path, pde)})
    table = pd.DataFrame(rows)
    write_atomically(FILE, lambda file: file.write(table.to_csv(index=False).encode()))
    return table


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        print(main().drop(columns=["pde", "noise", "seed"]).sum().to_string())
