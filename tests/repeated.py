"A small system, noisy waves and the published systems: what is discovered again and again, or split."
import json

import numpy as np
import pytest
import xarray as xr

import ubic
from ubic.terms import candidates


def toy(third=0.17, rows=200):
    "Three of five candidates and noise; how strong the third is can be set."
    X = np.random.default_rng(0).standard_normal((rows, 5))
    return ubic.LinearSystem(
        X, 2*X[:, 0] - X[:, 1] + third*X[:, 2] + 0.5*np.random.default_rng(1).standard_normal(rows),
    )


@pytest.fixture(scope="module")
def waves():
    "Waves that travel and fade, with their equation."
    x = np.linspace(0, 2*np.pi, 64, endpoint=False)
    field = ubic.simulate(
        {"u": {"u_x": -1.0, "u_xx": 0.1}},
        xr.Dataset({"u": ("x", np.sin(x) + 0.7*np.cos(2*x) + 0.5*np.sin(3*x + 1))}, {"x": x}), np.linspace(0, 4, 80),
    )
    return field.assign_attrs(pde=json.dumps({"u": {"u_x": -1.0, "u_xx": 0.1}}))


@pytest.fixture(scope="module")
def noisy(waves):
    "The waves in 5 % noise."
    return ubic.add_noise(waves, 5, seed=0)


@pytest.fixture(scope="module")
def published(reference):
    "The systems of Burgers and KdV that the authors published."
    def system(name, order):
        file = np.load(reference/f"{name}_weak_system_authors.npz")
        return ubic.LinearSystem(file["X"], file["y"], candidates(["u"], "x", 2, derivative_order=order))
    return {"burgers": system("burgers", 2), "kdv": system("kdv", 4)}
