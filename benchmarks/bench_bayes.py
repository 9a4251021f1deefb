"""Independent draws per second of the horseshoe, beside the same model written row by row, with one sampler."""
from functools import partial
from itertools import count

import numpy as np

from benchmarks.harness import Measured, compare, timed
from ubic.recipes import reproduce
from ubic.sampling import Likelihood, diagnostics, likelihood, nuts_chain, sampled
from ubic.bayes.shrinkage import horseshoe_chain
from ubic.system import LinearSystem

PRIOR = dict(shrinkage=1e-3, slab_df=4.0, slab_scale=2.0)


def row_wise(like: Likelihood):
    "The model as the paper samples it: all rows, and coefficients apart from their scales."
    import nutpie
    import pymc as pm
    import pytensor.tensor as pt
    X, y = like.system.X, like.system.y
    with pm.Model() as model:
        tau = pm.HalfStudentT("tau", nu=1, sigma=PRIOR["shrinkage"])
        c2 = pm.InverseGamma("c2", PRIOR["slab_df"]/2, PRIOR["slab_df"]/2*PRIOR["slab_scale"]**2)
        l = pm.HalfStudentT("l", nu=1, sigma=1, shape=X.shape[1])
        z = pm.Normal("z", shape=X.shape[1])
        coef = pm.Deterministic("coef", z*tau*pt.sqrt(c2)*l/pt.sqrt(c2 + tau**2*l**2))
        pm.Normal("rows", pt.dot(X, coef), pm.Exponential("sigma", like.noise_variance), observed=y)
    return nutpie.compile_pymc_model(model, backend="numba")


def sampling(like, chain, chains, counted):
    "A function that draws once more, with other seeds; its seconds are those of a thousand draws that count."
    seeds = count()
    def draw():
        settings = {"chain": chain, "chains": chains, "seed": next(seeds), "cache": False}
        seconds, draws = timed(lambda: sampled("benchmark", like, {}, **settings))
        worst = diagnostics(draws).filter(regex=r"^coef\[", axis=0).ess_bulk.min()
        coef = draws.posterior["coef"].values.reshape(-1, like.system.p)
        counts = worst if counted == "independent" else len(coef)
        divergences = int(draws.sample_stats.diverging.sum())
        return Measured(1000*seconds/counts, (coef, worst, divergences))
    return draw


def agreement(mine, theirs):
    (coef, worst, divergences), (other, other_worst, other_divergences) = mine, theirs
    deviation = np.max(np.abs(other.mean(axis=0) - coef.mean(axis=0))/coef.std(axis=0))
    return (
        f"means within {deviation:.1f} standard deviations; "
        f"independent draws {worst:.0f} of {len(coef)} and {other_worst:.0f} of {len(other)}; "
        f"divergences {divergences} and {other_divergences}"
    )


def horseshoe_on_burgers(every, chains=2, draws=150):
    "The chains row by row are short and mix so poorly that each of their draws is counted as if it were independent."
    system = reproduce("burgers").path.system
    like = likelihood(LinearSystem(system.X[::every], system.y[::every], system.terms), "paper")
    model = row_wise(like)
    def ours(seed): return horseshoe_chain(like, PRIOR, 1000, 1000, 0.95, seed)
    def theirs(seed): return nuts_chain(model, {}, draws, draws, seed, target_accept=0.95)
    return compare(
        f"horseshoe, Burgers with {like.system.n} rows, seconds per 1000 independent draws",
        f"PyMC and nutpie row by row, all {chains*draws} draws counted",
        sampling(like, ours, 4, "independent"),
        sampling(like, theirs, chains, "all"),
        agreement,
        repeats=3,
    )


def jobs(full): yield partial(horseshoe_on_burgers, 1 if full else 10)
