"""Sparse coding and K-SVD beside their maintained peers, in one run, one thread each.  usage: python benchmarks/bench_denoise.py"""
import time
import warnings

import numpy as np
import pandas as pd
from dictlearn import DictionaryLearning
from sklearn.linear_model import orthogonal_mp_gram
from threadpoolctl import threadpool_limits

from ubic import datasets
from ubic.denoise import Patches, dct_dictionary, learn_dictionary, omp_code
from ubic.field import add_noise


def best_time(function, repeats):
    "Least wall time of several calls, and the last result."
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        times.append(time.perf_counter() - start)
    return min(times), result


def compare(name, ours, peer, difference, repeats=5):
    "One row of the table; the first call of ours, which may compile, does not count."
    ours()
    ours_s, mine = best_time(ours, repeats)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer_s, theirs = best_time(peer, 2)
    return {"name": name, "ours s": ours_s, "peer s": peer_s, "ratio": peer_s / ours_s, "max difference": difference(mine, theirs)}


def coding(what, signals, dictionary, sparsity):
    "Orthogonal matching pursuit against scikit-learn."
    return compare(f"OMP, {len(signals)} {what}, {sparsity} of {dictionary.shape[1]} atoms / orthogonal_mp_gram",
                   lambda: omp_code(dictionary, signals, sparsity),
                   lambda: orthogonal_mp_gram(dictionary.T @ dictionary, dictionary.T @ signals.T, n_nonzero_coefs=sparsity).T,
                   lambda a, b: np.abs(a - b).max())


def learning(signals, sparsity, iterations):
    "K-SVD against dictlearn, from the same first dictionary; atoms may differ in sign."
    length = signals.shape[1]
    peer = DictionaryLearning(32, fit_algorithm="ksvd", n_nonzero_coefs=sparsity, max_iter=iterations, replace_unused_atoms="no", dict_init=dct_dictionary(length, 32).T)
    return compare(f"K-SVD, {len(signals)} patches, sparsity {sparsity}, {iterations} rounds / dictlearn",
                   lambda: learn_dictionary(signals, 32, rho=0.0, sparsity=sparsity, iterations=iterations),
                   lambda: peer.fit(signals).components_.T,
                   lambda a, b: np.abs(a * np.sign((a * b).sum(axis=0)) - b).max(), repeats=2)


@threadpool_limits.wrap(limits=1, user_api="blas")
def main() -> pd.DataFrame:
    "All comparisons, on patches of the Burgers field with 30 % noise."
    patches = Patches(add_noise(datasets.burgers(), 30, seed=0).u.values, 8)
    dictionary = learn_dictionary(patches, iterations=5)
    exact = omp_code(dictionary, patches[::10], 3) @ dictionary.T # signals at which the pursuit ends early
    rows = [coding("patches", patches[::4], dictionary, 6), coding("exact sums of 3", exact, dictionary, 6), coding("patches", patches[::10], dictionary, 31)]
    rows += [learning(patches[::4], 1, 5), learning(patches[::4], 3, 5)]
    return pd.DataFrame(rows)


if __name__ == "__main__": print(main().to_string(index=False, float_format=lambda v: f"{v:.3g}"))
