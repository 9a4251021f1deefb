"""Independent draws per second of the horseshoe, beside the same model written row by row, in one run with one sampler.  usage: python -m benchmarks.bench_bayes"""
import time
import warnings

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.bench_core import row
from ubic.recipes import reproduce
from ubic.sampling import Likelihood, diagnostics, likelihood, nuts_chain, sampled
from ubic.shrinkage import _chain

PRIOR = dict(shrinkage=1e-3, slab_df=4.0, slab_scale=2.0)


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


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
        coef = pm.Deterministic("coef", pm.Normal("z", shape=X.shape[1])*tau*pt.sqrt(c2)*l/pt.sqrt(c2 + tau**2*l**2))
        pm.Normal("rows", pt.dot(X, coef), pm.Exponential("sigma", like.noise_variance), observed=y)
    return nutpie.compile_pymc_model(model, backend="numba")


def measured(like, chain, chains):
    "Seconds, independent draws of the worst coefficient, divergences, and all draws of the coefficients."
    seconds, draws = timed(lambda: sampled("benchmark", like, {}, chain, chains, cache=False))
    worst = diagnostics(draws).filter(regex=r"^coef\[", axis=0).ess_bulk.min()
    return seconds, worst, int(draws.sample_stats.diverging.sum()), draws.posterior["coef"].values.reshape(-1, like.system.p)


def horseshoe_on_burgers(chains=2, draws=200):
    "Seconds per thousand independent draws; the chains row by row are short and mix so poorly that each of their draws is counted as if it were independent."
    like = likelihood(reproduce("burgers").path.system, "paper")
    ours_compile, _ = timed(lambda: _chain(like, PRIOR, 4, 4, 0.95, 0))
    peer_compile, model = timed(lambda: row_wise(like))
    ours_s, ours_worst, ours_divergences, ours_coef = measured(like, lambda seed: _chain(like, PRIOR, 1000, 1000, 0.95, seed), 4)
    peer_s, worst, divergences, coef = measured(like, lambda seed: nuts_chain(model, {}, draws, draws, seed, target_accept=0.95), chains)
    apart = np.max(np.abs(coef.mean(axis=0) - ours_coef.mean(axis=0))/ours_coef.std(axis=0))
    return row(f"horseshoe, Burgers with {like.system.n} rows, s per 1000 independent draws / row by row, all {len(coef)} draws counted", 1000*ours_s/ours_worst, 1000*peer_s/len(coef),
               f"means within {apart:.2f} standard deviations; independent draws {ours_worst:.0f} of {len(ours_coef)} and {worst:.0f} of {len(coef)}, divergences {ours_divergences} and {divergences}; "
               f"first call {ours_compile:.0f} s, compiling the peer {peer_compile:.0f} s")


@threadpool_limits.wrap(limits=1, user_api="blas")
def main() -> pd.DataFrame:
    "One row: seconds that a thousand independent draws of the worst coefficient take, compilation apart."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.DataFrame([horseshoe_on_burgers()])


if __name__ == "__main__": print(main().to_string(index=False, float_format=lambda value: f"{value:.3g}"))
