"""Simulation-based calibration: truths drawn from a prior are lost among the draws of the posteriors they lead to."""
import numpy as np
from scipy.stats import chisquare


def ranks(draw_prior, simulate, sample, n, seed=0, keep=63):
    """Rank of each true quantity among `keep` draws of its posterior, for `n` truths.

    The ranks are n × quantities, whole numbers from 0 to `keep`.

    draw_prior(rng) gives the truth, a vector; simulate(truth, rng) the data; sample(data, seed) draws × quantities,
    nearly independent.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        truth = np.asarray(draw_prior(rng))
        draws = np.asarray(sample(simulate(truth, rng), int(rng.integers(2**31))))
        draws = draws[np.linspace(0, len(draws) - 1, keep).astype(int)]
        below, equal = np.sum(draws < truth, axis=0), np.sum(draws == truth, axis=0)
        rows.append(below + rng.integers(equal + 1)) # draws equal to the truth, as those of a spike, are on either side
    return np.array(rows)


def uniform(ranked, keep=63, bins=8):
    "For each quantity, how likely are ranks as uneven as these if all are equally likely?"
    def p_value(column): return chisquare(np.bincount(column*bins//(keep + 1), minlength=bins)).pvalue
    return np.array([p_value(column) for column in ranked.T])
