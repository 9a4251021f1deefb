"""Systems on which searches are tested, and the slow way to know their best subsets."""
from itertools import combinations

import numpy as np
from hypothesis import HealthCheck, settings, strategies as st

from ubic import datasets, recipes
from ubic.denoise import savgol2d, svd
from ubic.field import add_noise
from ubic.library import strong
from ubic.system import LinearSystem

quick = settings(deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
few = settings(quick, max_examples=5)


@st.composite
def systems(draw, most=12, least=2, rows=80):
    "Correlated columns of different sizes; the target may be sparse, dense, noise alone, or fitted perfectly."
    p, seed = draw(st.integers(least, most)), draw(st.integers(0, 10**6))
    mixing, noise = draw(st.sampled_from([0.0, 0.9, 0.9999])), draw(st.sampled_from([0.0, 1e-4, 0.1, 10.0]))
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, p))*np.sqrt(1 - mixing) + rng.standard_normal((rows, 1))*np.sqrt(mixing)
    X = X*10.0**rng.uniform(-2, 2, p)
    coef = rng.standard_normal(p)*(rng.random(p) < draw(st.sampled_from([0.3, 1.0])))/np.linalg.norm(X, axis=0)
    return LinearSystem(X, X @ coef + (noise + 1e-9)*rng.standard_normal(rows)/np.sqrt(rows))


def brute_force(system, largest=None):
    "Least squared residual of each size, from every subset."
    unit = system.unit.T
    def rss(s): return np.sum((unit[:, -1] - unit[:, s] @ np.linalg.lstsq(unit[:, s], unit[:, -1], rcond=None)[0])**2)
    scale = np.sum(system.R[:, -1]**2)
    sizes = range(1, (largest or system.p - len(system.dependent)) + 1)
    return np.array([min(rss(list(s)) for s in combinations(range(system.p), k)) for k in sizes])*scale


def hard(p=30, seed=0, rows=300):
    "Noise alone: no subset stands out."
    rng = np.random.default_rng(seed)
    return LinearSystem(rng.standard_normal((rows, p)) + rng.standard_normal((rows, 1)), rng.standard_normal(rows))


def floor(path): # residuals below this are rounding
    return 1e-20*np.sum(path.system.R[:, -1]**2)


def navier_stokes():
    "Navier–Stokes as in the paper, on fewer points: 19 candidates."
    field = svd(savgol2d(add_noise(datasets.navier_stokes(size="small"), 1, seed=0), 9, 2), {"w": 26, "u": 20, "v": 20})
    return strong(field, "w", terms=recipes.paper_terms["navier_stokes"])
