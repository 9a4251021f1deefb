"""The best subset of every size, on the small triangle of one system.

The exact search beside brute force, mixed-integer programs and heuristics.
"""
from functools import cache, partial
from itertools import combinations

import numpy as np

from benchmarks.harness import compare
from ubic import datasets
from ubic.field import add_noise
from ubic.library import weak
from ubic.subsets import best_subsets
from ubic.search.paths import fit_subset
from ubic.system import LinearSystem


@cache
def problem(p, true=5, n=2000, seed=0):
    "Correlated candidates, some of which make the target."
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.7*rng.standard_normal((n, 1))
    step = 3 if p > 3*true - 3 else 2
    coef = np.linspace(1, 0.2, true)*(-1.0)**np.arange(true)
    return LinearSystem(X, X[:, :step*true:step] @ coef + 0.5*rng.standard_normal(n))


@cache
def real_problem():
    "The fourteen candidates of Kuramoto–Sivashinsky with 30 % noise."
    return weak(add_noise(datasets.ks(), 30, seed=0), derivative_order=4, form="pysindy", rows=2000)


def exactness(system, path, supports):
    "How many supports are equal, and whose residuals are larger."
    residuals = [fit_subset(system.unit, np.asarray(support, dtype=int))[1] for support in supports]
    ratios = np.array(residuals)*np.sum(system.R[:, -1]**2)/path.rss
    same = sum(set(a) == set(map(int, b)) for a, b in zip(path.supports, supports))
    excesses = {"peer's": ratios.max() - 1, "our": 1/ratios.min() - 1}
    told = [f"; {whose} residuals up to {excess:.0e} larger" for whose, excess in excesses.items() if excess > 1e-9]
    return f"{same} of {len(supports)} supports equal" + "".join(told)


def exact(system, max_size, peer, theirs, what="", repeats=5, more=lambda mine, other: ""):
    "The search on a system that is reduced already, beside a peer whose result has, or is, a list of supports."
    def agreement(mine, other): return exactness(system, mine, getattr(other, "supports", other)) + more(mine, other)
    name = f"exact best subsets, {what}{system.p} candidates to size {max_size}"
    return compare(name, peer, lambda: best_subsets(system, max_size), theirs, agreement, repeats)


def brute_force(X, y):
    "Best support of each size by least squares on all rows, subset by subset."
    def residual(s): return np.sum((y - X[:, s] @ np.linalg.lstsq(X[:, s], y, rcond=None)[0])**2)
    p = X.shape[1]
    return [min(map(list, combinations(range(p), k)), key=residual) for k in range(1, p + 1)]


def from_rows(p, n=10_000):
    "All of it, the reduction of the rows too."
    system = problem(p, n=n)
    def agreement(path, supports): return exactness(system, path, supports)
    def ours(): return best_subsets(LinearSystem(system.X, system.y))
    def theirs(): return brute_force(system.X, system.y)
    name = f"exact best subsets, {n} rows, {p} candidates"
    return compare(name, f"lstsq on all {2**p - 1} subsets", ours, theirs, agreement, repeats=3)


def program(p, max_size, solver):
    "Mixed-integer programs on SCIP."
    system = problem(p)
    def proof(mine, other):
        if mine.exact and other.exact: return "; both proven"
        return f"; largest gap of the peer {max(other.certificate['gap']):.0e}"
    def theirs(): return best_subsets(system, max_size, solver, time_limit=600)
    return exact(system, max_size, f"SCIP, {solver.upper()}", theirs, repeats=3, more=proof)


def miosr(make, max_size, what=""):
    "PySINDy's mixed-integer optimizer on Gurobi, one size after the other, on unit columns."
    system = make()
    def supports():
        import gurobipy
        import pysindy
        gurobipy.setParam("OutputFlag", 0)
        gurobipy.setParam("Threads", 1)
        def of_size(size):
            optimizer = pysindy.MIOSR(target_sparsity=size, alpha=0.0, regression_timeout=60)
            return optimizer.fit(system.unit[:-1].T, system.unit[-1]).coef_[0]
        return [np.flatnonzero(of_size(size)) for size in range(1, max_size + 1)]
    return exact(system, max_size, "PySINDy MIOSR on Gurobi", supports, what, repeats=3)


def abess(make, max_size, what=""):
    """Splicing, one size after the other.

    Its stopping rule has the unit of the target, so a target in large units makes it as exact as it can be.
    """
    system = make()
    def supports():
        from abess.linear import LinearRegression
        def of_size(size):
            model = LinearRegression(support_size=size, fit_intercept=False)
            return model.fit(system.unit[:-1].T, 1e6*system.unit[-1], is_normal=False).coef_
        return [np.flatnonzero(of_size(size)) for size in range(1, max_size + 1)]
    return exact(system, max_size, "abess", supports, what)


def penalized(p, max_size):
    "Our own search with a penalty instead of a size."
    system = problem(p, 7)
    def proof(mine, _):
        told = "proven" if mine.exact else "not proven"
        return f"; {told} after {mine.certificate['visited']} of {mine.certificate['all']:.0e} subsets"
    def theirs(): return best_subsets(system, max_size, "l0bnb")
    return exact(system, max_size, "l0bnb, also of this package", theirs, more=proof)


def jobs(full):
    ks = "Kuramoto–Sivashinsky, "
    correlated, many = partial(problem, 19), partial(problem, 76, 7)
    yield partial(from_rows, 14 if full else 10)
    for p, solver in ((14, "miqp"), (19, "miqp"), (19, "sos1")): yield partial(program, p, p if full else 5, solver)
    yield partial(miosr, correlated, 19)
    yield partial(miosr, real_problem, 14, ks)
    if full: yield partial(miosr, many, 10)
    yield partial(abess, correlated, 19, "")
    yield partial(abess, many, 10, "")
    yield partial(abess, real_problem, 14, ks)
    yield partial(penalized, 76, 10)
