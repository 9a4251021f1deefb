"""Fourteen PDEs that are not in the paper, four noise levels, three seeds, one setting for all: how often is one found?

usage: python -m benchmarks.scoreboard [--again] [--fresh]

Writes benchmarks/scoreboard.csv, one row per run, and goes on where an interrupted run of the same package has stopped;
--again starts anew. With --fresh the fields start from other random waves, the noise from other seeds, and the file is
scoreboard_fresh.csv: runs that no decision about the package has seen. No setting looks at the name of the PDE: fields
tell their unknowns and what is known beforehand (a potential), and nothing else.
"""
import argparse
import json
import pathlib
import time
import warnings

import numpy as np
import pandas as pd
import xarray as xr
from scipy.linalg import eigh
from scipy.optimize import brentq

import ubic
from benchmarks.board import kept, run_all, version
from ubic.criterion import select
from ubic.field import as_field

HERE = pathlib.Path(__file__).parent
NOISE = 1, 10, 30, 50
SETS = { # whether they are fresh: file, seed of the fields, seeds of the noise
    False: ("scoreboard.csv", 11, (0, 1, 2)),
    True: ("scoreboard_fresh.csv", 13, (20, 21, 22)),
}
POWER, SIZE = 3, 8


def random_waves(rng, length, modes, amplitude, offset=0.0, points=256):
    "A periodic start made of a few random waves."
    x = np.arange(points)*length/points
    def wave(k): return rng.normal()*np.cos(2*np.pi*k*x/length + rng.uniform(0, 2*np.pi))/np.sqrt(k)
    u = sum(wave(k) for k in range(1, modes + 1))
    return xr.Dataset({"u": ("x", offset + amplitude*u/np.abs(u).max())}, {"x": x})


def standing(rng, frequency, length=20.0, modes=8, end=10.0):
    "Random waves of a linear equation of second order in time: all the wave number has to know is its frequency."
    x, t = np.arange(256)*length/256, np.linspace(0, end, 200)
    u = 0
    for q in 2*np.pi*np.arange(1, modes + 1)/length:
        turn = np.stack([np.cos(frequency(q)*t), np.sin(frequency(q)*t)])
        u = u + np.stack([np.cos(q*x), np.sin(q*x)], axis=1) @ rng.normal(size=(2, 2)) @ turn/np.sqrt(q)
    return as_field(u, x=x, t=t)


def two_solitons(x, t, k=(1.0, 0.6), start=(-8.0, 2.0)):
    "u_t = -6 u u_x - u_xxx, from the determinant of Hirota."
    e1, e2 = (np.exp(a*(x[:, None] - s) - a**3*t) for a, s in zip(k, start))
    A = ((k[0] - k[1])/(k[0] + k[1]))**2
    tau = 1 + e1 + e2 + A*e1*e2
    first = k[0]*e1 + k[1]*e2 + (k[0] + k[1])*A*e1*e2
    second = k[0]**2*e1 + k[1]**2*e2 + (k[0] + k[1])**2*A*e1*e2
    return 2*(second/tau - (first/tau)**2)


def before_the_shock(x, t, amplitude=1.0, length=20.0):
    "u_t = -u u_x along its characteristics: u(x, t) = f(x - u t)."
    def f(s): return amplitude*(np.sin(2*np.pi*s/length) + 0.5*np.sin(4*np.pi*s/length + 1))
    def value(place, when): return brentq(lambda u: u - f(place - u*when), -2*amplitude, 2*amplitude, xtol=1e-13)
    return np.array([[value(place, when) for when in t] for place in x])


def schroedinger(rng, points=200, length=16.0):
    "i psi_t = -psi_xx/2 + V psi with a periodic potential, by the eigenvectors of the Fourier matrix."
    x, t = np.arange(points)*length/points, np.linspace(0, 6, 240)
    V = 1.5*np.cos(2*np.pi*x/length) + 0.7*np.sin(4*np.pi*x/length)
    q = 2*np.pi*np.fft.fftfreq(points, length/points)
    kinetic = np.real(np.fft.ifft(np.diag(q**2/2) @ np.fft.fft(np.eye(points), axis=0), axis=0))
    energy, modes = eigh(kinetic + np.diag(V))
    def wave(k, s): return (rng.normal() + 1j*rng.normal())/np.sqrt(k)*np.exp(2j*np.pi*k*s*x/length)
    start = sum(wave(k, s) for k in range(1, 6) for s in (1, -1))
    psi = modes @ (np.exp(-1j*np.outer(energy, t))*(modes.T @ start)[:, None])
    psi /= np.abs(psi).max()
    return as_field({"u": psi.real, "v": psi.imag, "V": np.repeat(V[:, None], len(t), 1)}, x=x, t=t)


def cases(seed=11):
    "Name, field and the true PDE: unknown with time derivative → term → coefficient."
    rng = np.random.default_rng(seed)
    def simulated(pde, start, end, frames):
        truth = {f"{name}_t": terms for name, terms in pde.items()}
        return ubic.simulate(pde, start, np.linspace(0, end, frames)), truth
    yield "heat", *simulated({"u": {"u_xx": 0.3}}, random_waves(rng, 20, 12, 1), 6, 121)
    yield "advection-diffusion", *simulated({"u": {"u_x": -1, "u_xx": 0.1}}, random_waves(rng, 20, 12, 1), 6, 121)
    yield "Fisher-KPP", *simulated({"u": {"u": 1, "u^2": -1, "u_xx": 0.3}}, random_waves(rng, 40, 10, 0.3, 0.4), 5, 151)
    yield "Allen-Cahn", *simulated({"u": {"u": 1, "u^3": -1, "u_xx": 0.1}}, random_waves(rng, 20, 12, 1), 4, 151)
    x, t = np.linspace(-15, 15, 256), np.linspace(0, 20, 201)
    yield "KdV, two solitons", as_field(two_solitons(x, t), x=x, t=t), {"u_t": {"(u^2)_x": -3, "u_xxx": -1}}
    yield "Chafee-Infante", *simulated({"u": {"u": -1, "u^3": 1, "u_xx": 1}}, random_waves(rng, 20, 8, 1.2), 1.5, 151)
    field, pde = simulated({"u": {"u_xx": -1, "(u^3)_xx": 1, "u_xxxx": -0.5}}, random_waves(rng, 40, 12, 0.8), 14, 281)
    yield "Cahn-Hilliard", field.isel(t=slice(40, None)), pde # short waves die within the first two units
    x, t = np.linspace(0, 20, 201), np.linspace(0, 1.3, 160)
    yield "inviscid Burgers", as_field(before_the_shock(x, t), x=x, t=t), {"u_t": {"(u^2)_x": -0.5}}
    waves = random_waves(rng, 20, 4, 1).assign(v=random_waves(rng, 20, 4, 1).u)
    light = {"u": {"v_xx": -0.5, "u^2*v": -1, "v^3": -1}, "v": {"u_xx": 0.5, "u^3": 1, "u*v^2": 1}}
    yield "nonlinear Schroedinger", *simulated(light, waves, 5, 201)
    yield "wave", standing(rng, lambda q: 1.5*q), {"u_tt": {"u_xx": 2.25}}
    yield "Klein-Gordon", standing(rng, lambda q: np.sqrt(q**2 + 2)), {"u_tt": {"u_xx": 1, "u": -2}}
    yield "beam", standing(rng, lambda q: 0.3*q**2), {"u_tt": {"u_xxxx": -0.09}}
    one, other = (random_waves(rng, 10, 4, 0.5, points=64) for _ in range(2))
    x = np.arange(64)*10/64
    plane = xr.Dataset({"u": (("x", "y"), 1 + 0.9*np.add.outer(one.u.values, other.u.values))}, {"x": x, "y": x})
    yield "porous medium, plane", *simulated({"u": {"(u^2)_xx": 1, "(u^2)_yy": 1}}, plane, 0.6, 61)
    held = schroedinger(rng).assign_attrs(known=json.dumps(["V"]))
    yield "Schroedinger, potential", held, {"u_t": {"v_xx": -0.5, "V*v": 1}, "v_t": {"u_xx": 0.5, "V*u": -1}}


def right(terms, truth): return {str(term) for term in terms} == set(truth)


def peers(system):
    """Terms chosen by the optimizers of PySINDy for several values of the constant each of them asks for.

    Columns and target are scaled to one.
    """
    import pysindy
    X, y = system.X/system.scale[:-1], system.y[:, None]/system.scale[-1]
    optimizers = {f"STLSQ, {value}": pysindy.STLSQ(threshold=value) for value in (0.02, 0.05, 0.1, 0.2)}
    for kind in (pysindy.SSR, pysindy.FROLS):
        optimizers |= {f"{kind.__name__}, {value}": kind(kappa=value) for value in (1e-4, 1e-3, 1e-2, 1e-1)}
    optimizers |= {f"MIOSR, {value}": pysindy.MIOSR(target_sparsity=value) for value in (1, 2, 3)}
    for name, optimizer in optimizers.items():
        try: coef = np.ravel(optimizer.fit(X, y).coef_)
        except Exception as error: # a peer that gives up has not found the equation
            warnings.warn(f"{name}: {error}")
            coef = np.zeros(system.p)
        yield name, [term for term, c in zip(system.terms, coef) if c]


def on_the_path(system):
    "What each criterion chooses from the same path of best subsets."
    path = ubic.best_subsets(system, min(SIZE, system.p))
    plain, counted = select(path, n_eff=None), select(path)
    yield "BIC", path.terms(int(plain.bic.argmin()))
    yield "BIC, n_eff", path.terms(int(counted.bic.argmin()))
    yield "UBIC, paper", select(path, mode="paper").terms
    yield "UBIC, unit-free", counted.terms
    yield "path", [path.terms(k) for k in range(len(path.supports))]


def others(field, pde, known):
    "Whether the other ways find all equations of a PDE; they are told the order in time."
    settings = {"derivative_order": 4 if len(field.dims) == 2 else 2, "power": POWER, "fluxes": True, "rows": 4000}
    found = {}
    for left, truth in pde.items():
        name, time_order = left.split("_")[0], left.count("t")
        system = ubic.library.weak(field, name, known=known, time_order=time_order, **settings)
        for method, terms in [*on_the_path(system), *peers(system)]:
            hit = any(right(each, truth) for each in terms) if method == "path" else right(terms, truth)
            found[method] = found.get(method, True) and hit
    return found


def errors_of(selection, truth):
    "How far each coefficient is off, in percent."
    return [abs(c/truth[str(term)] - 1)*100 for term, c in zip(selection.terms, selection.coef)]


def run(field, pde, noise, seed):
    "One row of the table."
    known = json.loads(field.attrs.get("known", "[]"))
    measured = ubic.add_noise(field.drop_vars(known), noise, seed=seed)
    noisy = field.copy().assign(measured.data_vars) # what is known is known exactly
    start = time.perf_counter()
    found = ubic.discover(noisy, power=POWER, fluxes=True, known=known, max_size=SIZE)
    seconds = time.perf_counter() - start
    chosen = {selection.path.system.target: selection for selection in found.values()}
    hit = set(chosen) == set(pde) and all(right(chosen[left].terms, truth) for left, truth in pde.items())
    errors = [np.nan]
    if hit:
        pairs = [(chosen[left], truth) for left, truth in pde.items()]
        errors = [error for selection, truth in pairs for error in errors_of(selection, truth)]
    told = "; ".join(str(selection.equation) for selection in found.values())
    verdict = max((selection.verdict for selection in found.values()), key=["clear", "fragile", "ambiguous"].index)
    return {
        "ubic": hit,
        "error": float(np.mean(errors)),
        "seconds": round(seconds, 1),
        "verdict": str(verdict),
        "reasons": "; ".join(verdict.reasons),
        "equation": told,
        **others(noisy, pde, known),
    }


def job(name, field, pde, noise, seed):
    with warnings.catch_warnings(action="ignore"):
        return {"pde": name, "noise": noise, "seed": seed, **run(field, pde, noise, seed)}


def main(again=False, fresh=False, workers=2, only=None) -> pd.DataFrame:
    name, fields, seeds = SETS[fresh]
    file = HERE/name
    rows = [] if again else kept(file, version())
    done = {(row["pde"], row["noise"], row["seed"]) for row in rows}
    wanted = [case for case in cases(fields) if only in (None, case[0])]
    runs = [(*case, noise, seed) for case in wanted for noise in NOISE for seed in seeds]
    jobs = [(name, *rest) for name, *rest in runs if (name, *rest[-2:]) not in done]
    return run_all(job, jobs, rows, file, ["pde", "noise", "seed"], workers)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--again", action="store_true", help="forget earlier runs")
    parser.add_argument("--fresh", action="store_true", help="other fields and other noise")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", help="one PDE")
    table = main(**vars(parser.parse_args()))
    told = ["noise", "seed", "error", "seconds", "equation", "verdict", "reasons", "package"]
    print(table.drop(columns=told).groupby("pde").mean().round(2).to_string())
