"""Best-subset solvers side by side on the triangle of one system, in one run, one thread each.  usage: python -m benchmarks.bench_solvers [--full]"""
import argparse
import warnings

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.bench_core import median_time, row
from ubic.subsets import _fit, best_subsets
from ubic.system import LinearSystem


def problem(p, true=5, n=2000, seed=0):
    "Correlated candidates, some of which make the target."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7*rng.standard_normal((n, 1))
    coef = np.linspace(1, 0.2, true)*(-1.0)**np.arange(true)
    system = LinearSystem(X, X[:, :3*true:3] @ coef + 0.5*rng.standard_normal(n))
    return system, system.unit # the reduction is done


def agreement(path, supports):
    same = sum(a == tuple(b) for a, b in zip(path.supports, supports))
    return f"{same} of {len(supports)} supports equal"


def against_programs(p, max_size, solver):
    "The exact search beside a mixed-integer program on SCIP."
    system, _ = problem(p)
    best_subsets(system, 2) # compiles
    ours_s, path = median_time(lambda: best_subsets(system, max_size), 7)
    peer_s, peer = median_time(lambda: best_subsets(system, max_size, solver, time_limit=600), 1)
    proof = "both proven" if path.exact and peer.exact else f"largest gap {max(peer.certificate['gap']):.1e}"
    return row(f"exact best subsets, {p} candidates to size {max_size} / SCIP {solver}", ours_s, peer_s, f"{agreement(path, peer.supports)}, {proof}")


def miosr(system, max_size):
    "PySINDy's mixed-integer optimizer on the triangle, one size after the other."
    import pysindy
    X, y = system.R[:, :-1], system.R[:, -1]
    models = (pysindy.MIOSR(target_sparsity=size, alpha=0.0, regression_timeout=60).fit(X, y) for size in range(1, max_size + 1))
    return [np.flatnonzero(model.coef_[0]) for model in models]


def against_miosr(p, max_size):
    "The exact search beside PySINDy's MIOSR, which needs Gurobi; nothing where that is missing."
    system, _ = problem(p)
    ours_s, path = median_time(lambda: best_subsets(system, max_size), 7)
    try: peer_s, supports = median_time(lambda: miosr(system, max_size), 1)
    except (ImportError, AttributeError): return []
    excess = max(_fit(system.unit, support)[1]/rss for support, rss in zip(supports, path.rss/np.sum(system.R[:, -1]**2))) - 1
    return [row(f"exact best subsets, {p} candidates to size {max_size} / PySINDy MIOSR on Gurobi", ours_s, peer_s,
                f"{agreement(path, supports)}; peer's residuals up to {excess:.1e} larger")]


def wide_library(p=76, max_size=10):
    "As many candidates as the paper's largest library: proof and time, beside the penalized search."
    system, _ = problem(p, true=7)
    ours_s, path = median_time(lambda: best_subsets(system, max_size), 5)
    peer_s, peer = median_time(lambda: best_subsets(system, max_size, "l0bnb"), 1)
    return row(f"exact best subsets, {p} candidates to size {max_size} / l0bnb", ours_s, peer_s,
               f"{agreement(path, peer.supports)}; {'proven' if path.exact else 'not proven'} after {path.certificate['visited']} of {path.certificate['all']:.1e} subsets")


@threadpool_limits.wrap(limits=1, user_api="blas")
def main(
    quick: bool = True, # mixed-integer programs up to six terms only
) -> pd.DataFrame:
    "All comparisons, one row each; ours is the median of several runs after the first, which may compile."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pd.DataFrame([against_programs(14, 6 if quick else 14, "miqp"), against_programs(19, 6 if quick else 19, "miqp"), against_programs(19, 6 if quick else 19, "sos1"),
                             *against_miosr(19, 19), wide_library()])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="mixed-integer programs for all sizes")
    print(main(quick=not parser.parse_args().full).to_string(index=False, float_format=lambda value: f"{value:.3g}"))
