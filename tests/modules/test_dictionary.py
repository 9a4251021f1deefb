"Dictionaries of patches against published arrays and reference implementations."
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.linear_model import orthogonal_mp_gram

from denoising import published_denoised, published_noisy, relative_error, toy
from ubic.denoise import Patches, code_signals, dct_dictionary, ksvd, learn_dictionary, omp_code, renew_atoms


def test_published_burgers_array(reference):
    _, noisy = published_noisy(reference, "burgers")
    ours = ksvd(noisy, patch=8, atoms=32, rho=0.05, sparsity=1, transform_sparsity=6, iterations=100, training=None)
    assert np.abs(ours.u.values - published_denoised(reference, "burgers")).max() < 1e-5


@pytest.mark.slow
def test_published_ks_array(reference):
    _, noisy = published_noisy(reference, "ks")
    ours = ksvd(noisy, patch=25, atoms=32, rho=0.01, transform_sparsity=32, iterations=100, training=None)
    assert np.abs(ours.u.values - published_denoised(reference, "ks")).max() < 1e-5


@pytest.mark.slow
def test_real_ksvd_on_kdv(reference):
    u, noisy = published_noisy(reference, "kdv")
    ours = ksvd(noisy, patch=25, atoms=32, transform_sparsity=32, iterations=100, training=None)
    assert ((ours.u.values - u)**2).mean() <= 0.0009


@pytest.mark.parametrize("name", ["burgers", "kdv", "ks"])
def test_defaults_beat_the_published_arrays(reference, name):
    u, noisy = published_noisy(reference, name)
    published = np.linalg.norm(published_denoised(reference, name) - u) / np.linalg.norm(u)
    assert relative_error(ksvd(noisy), u) < 0.8 * published


@pytest.mark.parametrize("sparsity", [1, 3, 10])
def test_codes_equal_scikit_learn(sparsity):
    rng = np.random.default_rng(sparsity)
    dictionary = rng.standard_normal((25, 40))
    dictionary /= np.linalg.norm(dictionary, axis=0)
    random = rng.standard_normal((60, 25))
    of_two_atoms = rng.standard_normal((20, 2)) @ dictionary[:, :2].T
    signals = np.vstack([random, of_two_atoms, np.zeros((1, 25))])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reference = orthogonal_mp_gram(dictionary.T @ dictionary, dictionary.T @ signals.T, n_nonzero_coefs=sparsity).T
    assert np.allclose(omp_code(dictionary, signals, sparsity), reference, atol=1e-10)


def test_pursuit_over_all_atoms_is_least_squares():
    rng = np.random.default_rng(0)
    dictionary = rng.standard_normal((30, 8))
    dictionary[:, 7] = dictionary[:, 2] - dictionary[:, 5]
    signals = rng.standard_normal((40, 30))
    projected = (dictionary @ np.linalg.lstsq(dictionary, signals.T, rcond=None)[0]).T
    assert np.allclose(omp_code(dictionary, signals, 8) @ dictionary.T, projected, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-8, 1e8))
def test_codes_do_not_depend_on_the_unit(seed, unit):
    rng = np.random.default_rng(seed)
    dictionary = rng.standard_normal((9, 12))
    signals = rng.standard_normal((5, 9))
    scaled, codes = omp_code(dictionary, unit * signals, 4), omp_code(dictionary, signals, 4)
    assert np.allclose(scaled, unit * codes, rtol=1e-6, atol=1e-9 * unit)


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_objective_never_rises_with_one_atom(rho):
    signals = Patches(toy().u.values, 6)[:]
    def objective(dictionary):
        codes, residuals = code_signals(signals, dictionary, rho, 1)
        return (residuals**2).sum() + rho * (codes**2).sum()
    values = [objective(learn_dictionary(signals, 16, rho, sparsity=1, iterations=n)) for n in range(8)]
    assert np.all(np.diff(values) <= 1e-9 * values[0])


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_renewing_atoms_never_raises_the_objective(rho):
    signals = Patches(toy().u.values, 6)[:]
    dictionary = dct_dictionary(36, 16)
    for _ in range(4):
        codes, residuals = code_signals(signals, dictionary, rho, 3)
        before = (residuals**2).sum() + rho * (codes**2).sum()
        renew_atoms(dictionary, codes, residuals, rho)
        assert (residuals**2).sum() + rho * (codes**2).sum() <= before * (1 + 1e-12)
        assert np.allclose(residuals, signals - codes @ dictionary.T)


@pytest.mark.parametrize("sparsity, patch", [(1, 6), (3, 6), (1, 14), (2, 14)])
def test_atoms_have_unit_norm(sparsity, patch):
    signals = Patches(toy().u.values, patch)
    dictionary = learn_dictionary(signals, 12, sparsity=sparsity, iterations=4)
    assert np.allclose(np.linalg.norm(dictionary, axis=0), 1)
    assert np.allclose(dictionary, learn_dictionary(signals[:], 12, sparsity=sparsity, iterations=4))


def test_general_sparsity_agrees_with_the_special_case():
    signals = Patches(toy().u.values, 6)[:]
    special = learn_dictionary(signals, 8, sparsity=1, iterations=3)
    general = dct_dictionary(36, 8)
    for _ in range(3): renew_atoms(general, *code_signals(signals, general, 0.2, 1), 0.2)
    used = np.abs((special * general).sum(axis=0))
    assert np.allclose(used, 1, atol=1e-8)


def test_same_dictionary_as_dictlearn():
    peer = pytest.importorskip("dictlearn")
    signals = Patches(toy().u.values, 5)[:]
    for sparsity in (1, 2):
        ours = learn_dictionary(signals, 10, rho=0.0, sparsity=sparsity, iterations=3)
        how = dict(fit_algorithm="ksvd", n_nonzero_coefs=sparsity, max_iter=3, replace_unused_atoms="no")
        learner = peer.DictionaryLearning(10, dict_init=dct_dictionary(25, 10).T, **how)
        theirs = learner.fit(signals).components_.T
        assert np.allclose(np.abs((ours * theirs).sum(axis=0)), 1, atol=1e-8)


def test_patches_match_their_definition_and_rebuild():
    u = np.random.default_rng(0).standard_normal((9, 7))
    patches = Patches(u, 3)
    windows = np.lib.stride_tricks.sliding_window_view(u, (3, 3)).reshape(-1, 9)
    assert np.allclose(patches[:], windows - windows.mean(axis=1, keepdims=True)) and len(patches) == len(windows)
    assert np.allclose(patches[np.array([5, 2])], patches[:][[5, 2]])
    assert np.allclose(patches.rebuild(lambda rows: rows), u)


def test_result_is_repeatable_and_follows_the_unit():
    first, again, scaled = ksvd(toy(), seed=3), ksvd(toy(), seed=3), ksvd(toy() * 1e-6, seed=3)
    assert np.array_equal(first.u, again.u)
    assert np.allclose(scaled.u, 1e-6 * first.u, atol=1e-9 * 1e-6)


def test_flat_regions_and_small_fields():
    ds = toy(noise=0.0)
    ds.u[:25] = 0.0
    assert np.isfinite(ksvd(ds).u).all() and np.isfinite(ksvd(ds, sparsity=2).u).all()
    assert np.isfinite(ksvd(toy(8, 8)).u).all() and np.isfinite(ksvd(toy(16, 9), atoms=1).u).all()
