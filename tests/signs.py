"""Systems with answers known by hand.

Most are made of columns of a Hadamard matrix: entries 1 and -1, any two columns orthogonal. Of a target such as
`2 h1 + 0.5 h2 + 0.3 h3` with candidates h1 and h2, the coefficients are 2 and 0.5, exactly, and the mean square that is
left is 0.3², exactly."""
import numpy as np
from scipy.linalg import hadamard

import ubic


def signs(rows, count):
    "So many orthogonal columns of 1 and -1, none of them constant."
    return hadamard(rows)[:, 1:count + 1].T.astype(float)


def two_terms(second, left, rows=64, n_eff=None):
    "A system with target h1 + second·h2 + left·h3, and the candidates h1 and h2."
    h1, h2, h3 = signs(rows, 3)
    return ubic.LinearSystem(np.stack([h1, h2], axis=1), h1 + second*h2 + left*h3, ["h1", "h2"], n_eff=n_eff)


def reasons(selection):
    "All reasons of a verdict in one text."
    return "; ".join(selection.verdict.reasons)


def heat_waves(decay, noise=0.02):
    "Heat in three waves, u_t = 0.5 u_xx - decay·u, with the same noise for any decay."
    x, t = np.arange(96)*2*np.pi/96, np.linspace(0, 1, 61)
    u = sum(np.exp(-(q**2*0.5 + decay)*t)*np.cos(q*x[:, None] + q) for q in (1, 2, 3))
    return ubic.as_field(u + noise*np.random.default_rng(0).standard_normal(u.shape), x=x, t=t)
