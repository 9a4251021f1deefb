"""Independent draws per second of the horseshoe, beside the same model written row by row, in one run with one sampler.  usage: python -m benchmarks.bench_bayes [--full]"""
import argparse
import time
import warnings

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

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


def per_second(like, chain, chains):
    "Independent draws of the worst coefficient per second, divergences, and the draws."
    seconds, draws = timed(lambda: sampled("benchmark", like, {}, chain, chains, cache=False))
    worst = diagnostics(draws).filter(regex=r"^coef\[", axis=0).ess_bulk.min()
    return worst/seconds, int(draws.sample_stats.diverging.sum()), draws.posterior["coef"].values.reshape(-1, like.system.p)


def horseshoe_on_burgers(quick):
    like = likelihood(reproduce("burgers").path.system, "paper")
    ours_compile, _ = timed(lambda: _chain(like, PRIOR, 4, 4, 0.95, 0))
    peer_compile, model = timed(lambda: row_wise(like))
    ours, our_divergences, our_coef = per_second(like, lambda seed: _chain(like, PRIOR, 1000, 1000, 0.95, seed), 4)
    chains, draws = (2, 200) if quick else (4, 1000)
    peer, divergences, coef = per_second(like, lambda seed: nuts_chain(model, {}, draws, draws, seed, target_accept=0.95), chains)
    apart = np.max(np.abs(coef.mean(axis=0) - our_coef.mean(axis=0))/our_coef.std(axis=0))
    return {"name": f"horseshoe on Burgers, {like.system.n} rows / row by row, {chains} × {draws} draws; seconds per 1000 independent draws", "ours_s": 1000/ours, "peer_s": 1000/peer, "ratio": ours/peer,
            "agreement": f"means within {apart:.2f} standard deviations; {our_divergences} and {divergences} divergences; first call {ours_compile:.0f} s, compiling the peer {peer_compile:.0f} s"}


@threadpool_limits.wrap(limits=1, user_api="blas")
def main(
    quick: bool = True, # fewer draws row by row
) -> pd.DataFrame:
    "One row: seconds that a thousand independent draws of the worst coefficient take, compilation apart."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.DataFrame([horseshoe_on_burgers(quick)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="as many draws row by row as of ours")
    print(main(quick=not parser.parse_args().full).to_string(index=False, float_format=lambda value: f"{value:.3g}"))
