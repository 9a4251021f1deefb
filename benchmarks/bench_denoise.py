"""Sparse coding, K-SVD, Savitzky–Golay filters and truncation, each beside the package that people use for it."""
from functools import cache, partial

import numpy as np
from scipy.linalg import svd as full_svd
from scipy.signal import convolve2d, savgol_filter
from scipy.sparse.linalg import svds

from benchmarks.harness import compare
from ubic import datasets
from ubic.denoise import Patches, dct_dictionary, learn_dictionary, omp_code, plane_kernel, savgol, savgol2d, svd
from ubic.field import add_noise, as_field


def difference(mine, theirs): return f"largest difference {np.abs(mine - theirs).max():.0e}"


@cache
def noisy_burgers(): return add_noise(datasets.burgers(), 30, seed=0)


@cache
def patches(): return Patches(noisy_burgers().u.values, 8)


@cache
def dictionary(): return learn_dictionary(patches(), iterations=5)


@cache
def spiral(n, frames=201):
    "A turning spiral with 10 % noise, of the size of the paper's reaction–diffusion field for 256 points."
    c, t = np.linspace(-10, 10, n, endpoint=False), np.linspace(0, 10, frames)
    radius = np.hypot(c[:, None], c)
    turn = (np.arctan2(c, c[:, None]) - radius)[..., None] + t
    u = np.tanh(radius)[..., None]*np.cos(turn)
    return add_noise(as_field(u, dims=("x", "y", "t"), x=c, y=c, t=t), 10, seed=0)


def coding(every, sparsity, exact=False):
    "Orthogonal matching pursuit; at sums of three atoms the pursuit ends early."
    atoms, signals = dictionary(), patches()[::every]
    if exact: signals = omp_code(atoms, signals, 3) @ atoms.T
    def theirs():
        from sklearn.linear_model import orthogonal_mp_gram
        return orthogonal_mp_gram(atoms.T @ atoms, atoms.T @ signals.T, n_nonzero_coefs=sparsity).T
    what = "exact sums of 3" if exact else "patches"
    name = f"OMP, {len(signals)} {what}, {sparsity} of {atoms.shape[1]} atoms"
    def ours(): return omp_code(atoms, signals, sparsity)
    return compare(name, "scikit-learn orthogonal_mp_gram", ours, theirs, difference)


def learning(sparsity, rounds, every=4):
    "K-SVD from the same first dictionary; atoms may differ in sign."
    signals = patches()[::every]
    def ours(): return learn_dictionary(signals, 32, rho=0.0, sparsity=sparsity, iterations=rounds)
    def theirs():
        from dictlearn import DictionaryLearning
        model = DictionaryLearning(
            32,
            fit_algorithm="ksvd",
            n_nonzero_coefs=sparsity,
            max_iter=rounds,
            replace_unused_atoms="no",
            dict_init=dct_dictionary(64, 32).T,
        )
        return model.fit(signals).components_.T
    def agreement(mine, other): return difference(mine*np.sign((mine*other).sum(axis=0)), other)
    name = f"K-SVD, {len(signals)} patches, sparsity {sparsity}, {rounds} rounds"
    return compare(name, "dictlearn", ours, theirs, agreement)


def filter_of_lines(window=33):
    "Along one axis, line by line."
    field = add_noise(datasets.kdv(), 30, seed=0)
    def ours(): return savgol(field, window).u.values
    def theirs(): return np.stack([savgol_filter(line, window, 2) for line in field.u.values.T], axis=1)
    name = f"Savitzky–Golay over {window} points of {field.sizes['t']} lines"
    return compare(name, "scipy savgol_filter line by line", ours, theirs, difference)


def filter_of_frames(n, window=7):
    "In the plane, frame by frame."
    field = spiral(n)
    count = field.sizes["t"]
    def ours(): return savgol2d(field, window).u.values
    def theirs():
        def filtered(k): return convolve2d(field.u.values[..., k], plane_kernel(window), mode="same", boundary="symm")
        return np.stack([filtered(k) for k in range(count)], axis=-1)
    name = f"Savitzky–Golay {window} × {window} of {count} frames of {n} × {n}"
    return compare(name, "scipy convolve2d frame by frame", ours, theirs, difference)


def truncation(n, peer, rank=10):
    "Space × time at a low rank."
    field = spiral(n)
    matrix = field.u.values.reshape(-1, field.sizes["t"])
    def ours(): return svd(field, rank).u.values.reshape(matrix.shape)
    def factors():
        if peer == "svds": return svds(matrix, rank, random_state=0)
        return full_svd(matrix, full_matrices=False)
    def theirs():
        left, values, right = factors()
        return (left[:, :rank]*values[:rank]) @ right[:rank]
    name = f"rank {rank} of {matrix.shape[0]} × {matrix.shape[1]}"
    return compare(name, f"scipy {peer}", ours, theirs, difference)


def jobs(full):
    n = 256 if full else 128
    yield partial(coding, 4, 6)
    yield partial(coding, 10, 6, exact=True)
    yield partial(coding, 10, 31)
    yield partial(learning, 1, 5)
    yield partial(learning, 3, 5)
    yield filter_of_lines
    yield partial(filter_of_frames, n)
    for peer in ("svd", "svds"): yield partial(truncation, n, peer)
