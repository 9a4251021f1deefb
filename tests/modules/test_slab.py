"""Spike-and-slab: the exact posterior against other ways to compute it, and PyMC against the exact posterior."""
import sys
from itertools import product

import numpy as np
import pytest
from calibration import ranks, uniform
from scipy.stats import multivariate_normal

from ubic.field import UbicWarning
from ubic.sampling import Likelihood, diagnostics, likelihood
from ubic.slab import SlabPrior, enumerate_subsets, exact_draws, pymc_chain, spike_slab
from ubic.subsets import best_subsets
from ubic.system import LinearSystem
from ubic.terms import candidates


def toy(n=30, p=3, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return LinearSystem(X, X[:, 0] - 0.3*X[:, 1] + noise*rng.standard_normal(n))


def by_hand(system, beta, cov):
    "Probability of every subset from the covariance of the rows, integrated over a fine grid of σ."
    like = likelihood(system, mode="paper")
    log_sigma = np.linspace(-4, 3, 1401)
    found = {}
    for inclusion in product((0, 1), repeat=system.p):
        X = system.X*np.array(inclusion)
        def height(s):
            noisy = np.exp(2*s)*np.eye(system.n) + X @ cov @ X.T
            return multivariate_normal.logpdf(system.y, X @ like.estimate, noisy) - like.noise_variance*np.exp(s) + s
        heights = [height(s) for s in log_sigma]
        found[inclusion] = np.sum(np.exp(heights))*np.prod(np.where(inclusion, beta, 1 - beta))
    return {inclusion: value/sum(found.values()) for inclusion, value in found.items()}


tilted = np.array([[2, 0.5, 0], [0.5, 1, -0.2], [0, -0.2, 0.3]])


@pytest.mark.parametrize("beta, cov", [(0.3, np.eye(3)), (0.7, tilted)])
def test_exact_is_exact(beta, cov):
    system = toy()
    found, expected = spike_slab(system, beta, mode="paper", slab_cov=cov), by_hand(system, beta, cov)
    for inclusion, probability in expected.items():
        assert found.of(np.flatnonzero(inclusion)) == pytest.approx(probability, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("n_eff", [6, 100, 1e5])
def test_few_and_many_rows(n_eff):
    "The sum over the noise has enough points for flat and for sharp bumps: twice as many change nothing."
    like = likelihood(toy(200_000 if n_eff == 1e5 else 300), "paper", n_eff)
    prior = SlabPrior(0.3, np.eye(3))
    coarse, fine = enumerate_subsets(like, prior), enumerate_subsets(like, prior, reach=14.0, points=301)
    np.testing.assert_allclose(coarse.probability, fine.probability, rtol=2e-4, atol=1e-9)


def test_units_and_order_do_not_matter():
    system, factors, order = toy(), np.array([1e-4, 3.0, 1e6]), [2, 0, 1]
    plain = spike_slab(system, 0.3)
    other = spike_slab(LinearSystem((system.X*factors)[:, order], 1e3*system.y, [f"x{j}" for j in order]), 0.3)
    np.testing.assert_allclose(other.pip[plain.pip.index], plain.pip, rtol=1e-9)
    np.testing.assert_allclose(other.mean, (plain.mean*1e3/factors)[order], rtol=1e-9)


def test_same_seed_same_draws():
    assert np.array_equal(spike_slab(toy(), 0.3, seed=3).coef, spike_slab(toy(), 0.3, seed=3).coef)
    assert not np.array_equal(spike_slab(toy(), 0.3, seed=3).coef, spike_slab(toy(), 0.3, seed=4).coef)


def test_draws_have_the_exact_moments():
    found = spike_slab(toy(), 0.3, mode="paper", draws=20_000)
    error = found.std/np.sqrt(80_000)
    assert (np.abs(found.coef.mean(axis=0) - found.mean) < 5*error).all()
    np.testing.assert_allclose(found.coef.std(axis=0), found.std, rtol=0.05)


def test_perfect_and_dependent_systems():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    found = spike_slab(LinearSystem(X, X[:, 0] - X[:, 1]), 0.3)
    assert found.support == (0, 1) and np.isfinite(found.coef).all() and found.probability.max() > 0.9
    with pytest.warns(UbicWarning, match="cannot be told apart"):
        twice = LinearSystem(np.column_stack([X, X[:, 0]]), X[:, 0] + 0.1*X[:, 2])
    found = spike_slab(twice, 0.3)
    assert found.pip["x0"] == pytest.approx(found.pip["x3"]) and np.isfinite(found.coef).all()


class Fixed(Likelihood):
    "A likelihood whose prior does not look at the data, as calibration needs."
    estimate, noise_variance = np.array([0.5, 0.0, -0.5]), 1.0


X = np.random.default_rng(0).standard_normal((15, 3))


def prior(rng, beta=0.4): # coefficients, then σ
    return np.append((rng.random(3) < beta)*(Fixed.estimate + rng.standard_normal(3)), rng.exponential(1.0))


def data(truth, rng):
    like = likelihood(LinearSystem(X, X @ truth[:3] + truth[3]*rng.standard_normal(15)), mode="paper")
    return Fixed(like.system, like.mode, like.n, like.R, like.q)


def together(drawn): return np.column_stack([drawn["coef"], drawn["sigma"]])


def test_exact_draws_are_calibrated():
    def sample(like, seed):
        prior = SlabPrior(0.4, np.eye(3))
        drawn = exact_draws(enumerate_subsets(like, prior), like, prior, 63, chains=1, seed=seed).posterior
        return together({name: drawn[name].values[0] for name in ("coef", "sigma")})
    assert uniform(ranks(prior, data, sample, 400)).min() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("collapse", [True, False])
def test_sampled_draws_are_calibrated(collapse):
    def sample(like, seed):
        return together(pymc_chain(like, SlabPrior(0.4, np.eye(3), collapse), "mcmc", 945, 300)(seed))
    assert uniform(ranks(prior, data, sample, 60, seed=1), bins=4).min() > 1e-3


def errors_of(exact, sampled): # in Monte-Carlo standard errors
    table = diagnostics(sampled.draws).filter(regex=r"^inclusion\[", axis=0)
    ess = table.ess_bulk.fillna(sampled.coef.shape[0]).clip(upper=sampled.coef.shape[0]).values
    return np.abs(exact.pip - sampled.pip).values/np.sqrt((exact.pip*(1 - exact.pip)).values.clip(1e-6)/ess)


def test_mcmc_finds_the_exact_probabilities():
    system = toy()
    sampled = spike_slab(system, 0.3, "mcmc", mode="paper", draws=1000, tune=200, chains=2, cache=False)
    assert errors_of(spike_slab(system, 0.3, mode="paper"), sampled).max() < 4
    assert sampled.draws.posterior.sizes == {"chain": 2, "draw": 1000, "term": 3}


@pytest.mark.slow
def test_mcmc_finds_them_with_the_slab_drawn_along():
    system = toy()
    length = dict(draws=2000, tune=1000, chains=4)
    sampled = spike_slab(system, 0.3, "mcmc", mode="paper", collapse=False, cache=False, **length)
    assert errors_of(spike_slab(system, 0.3, mode="paper"), sampled).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize("collapse, reach", [(True, 0.03), (False, 0.15)])
def test_sequential_sampler_comes_close(collapse, reach):
    """PyMC moves whole populations with coins that are real numbers until they are read:
    good to a few hundredths, and to a tenth as published."""
    system = toy()
    sampled = spike_slab(system, 0.3, "smc", mode="paper", draws=2000, chains=8, collapse=collapse, cache=False)
    assert np.abs(sampled.pip - spike_slab(system, 0.3, mode="paper").pip).max() < reach


def published(reference, name, order):
    with np.load(reference/f"{name}_weak_system_authors.npz") as file:
        return LinearSystem(file["X"], file["y"].ravel(), candidates(derivative_order=order))


def burgers(reference): return published(reference, "burgers", 2)


def kdv(reference): # the candidates of the best subset of seven
    system = published(reference, "kdv", 4)
    return system.only(best_subsets(system, 7).supports[6])


def test_true_terms_are_the_least_uncertain_on_the_published_systems(reference):
    cases = (burgers(reference), 0.3125, {"u_xx", "u*u_x"}), (kdv(reference), 0.01, {"u_xxx", "u*u_x"})
    for system, beta, true in cases:
        found = spike_slab(system, beta, mode="paper")
        assert {str(system.terms[j]) for j in np.argsort(found.uncertainty)[:2]} == true
        counted = spike_slab(system, beta, mode="paper", n_eff=100)
        assert {str(system.terms[j]) for j in counted.support} == true


@pytest.mark.slow
def test_mcmc_on_the_published_burgers_system(reference):
    with pytest.warns(UbicWarning, match="independent draws"):
        sampled = spike_slab(burgers(reference), 0.3125, "mcmc", mode="paper", draws=2000, tune=500, cache=False)
    assert errors_of(spike_slab(burgers(reference), 0.3125, mode="paper"), sampled).max() < 4


@pytest.mark.slow
@pytest.mark.parametrize("beta, sizes", [(0.01, {2}), (0.125, {2, 3, 4})])
def test_the_published_sampler_on_the_published_kdv_system(reference, beta, sizes):
    """Sequential Monte Carlo with the slab sampled along prefers few terms, as published, and each chain ends in a
    subset of its own; the exact posterior of the same model does not."""
    system = kdv(reference)
    with pytest.warns(UbicWarning, match="R-hat"):
        theirs = spike_slab(system, beta, "smc", mode="paper", collapse=False, draws=4000, cache=False)
    visited = theirs.inclusion[theirs.probability > 0.05].sum(axis=1)
    assert set(visited) <= sizes
    assert len(spike_slab(system, beta, mode="paper").support) == 5


def test_absent_packages_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymc", None)
    with pytest.raises(ImportError, match=r"ubic\[bayes\]"): spike_slab(toy(), 0.3, "mcmc", cache=False)


def test_chains_are_kept_and_resumed(monkeypatch, tmp_path):
    import ubic.slab as slab
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path))
    drawn = []
    def chain(*settings):
        def one(seed):
            if len(drawn) == 2: raise KeyboardInterrupt
            drawn.append(seed)
            rng = np.random.default_rng(seed)
            return {"coef": rng.standard_normal((1000, 3)), "inclusion": np.ones((1000, 3)), "sigma": rng.random(1000)}
        return one
    monkeypatch.setattr(slab, "pymc_chain", chain)
    with pytest.raises(KeyboardInterrupt): spike_slab(toy(), 0.3, "mcmc")
    first, drawn[:] = list(drawn), []
    with pytest.raises(KeyboardInterrupt): spike_slab(toy(), 0.3, "mcmc", chains=5)
    assert len(first) == 2 and len(drawn) == 2 and not set(first) & set(drawn)
    drawn[:] = []
    assert spike_slab(toy(), 0.3, "mcmc").coef.shape == (4000, 3) and not drawn


@pytest.mark.parametrize("noise, n", [(10, 20), (30, 20), (30, 200)])
def test_noise_that_its_prior_pulls_down(noise, n):
    "The rate of the prior is the residual variance: large noise is believed to be far smaller than it is."
    rng = np.random.default_rng(0)
    system = LinearSystem(rng.standard_normal((n, 2)), noise*rng.standard_normal(n))
    like, log_sigma = likelihood(system, mode="paper"), np.linspace(-6, 8, 2801)
    heights = {}
    for inclusion in product((0, 1), repeat=2):
        X = system.X*np.array(inclusion)
        values, vectors = np.linalg.eigh(X @ X.T)
        along = (vectors.T @ (system.y - X @ like.estimate))**2
        variance = np.exp(2*log_sigma)[:, None] + np.maximum(values, 0)
        fit = -0.5*(np.log(variance) + along/variance).sum(axis=1)
        heights[inclusion] = fit - like.noise_variance*np.exp(log_sigma) + log_sigma
    top = max(h.max() for h in heights.values())
    def share(inclusion): return np.exp(heights[inclusion] - top).sum()*np.prod(np.where(inclusion, 0.3, 0.7))
    expected = {inclusion: share(inclusion) for inclusion in heights}
    found, total = spike_slab(system, 0.3, mode="paper"), sum(expected.values())
    for inclusion, value in expected.items():
        assert found.of(np.flatnonzero(inclusion)) == pytest.approx(value/total, abs=1e-5)


def test_kept_chains_know_nothing_of_units(monkeypatch, tmp_path):
    "Powers of two change units without any rounding, so both systems read the same chains."
    import ubic.slab as slab
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path))
    def chain(*settings):
        def one(seed):
            coef = np.random.default_rng(seed).standard_normal((1000, 3))
            return {"coef": coef, "inclusion": np.ones((1000, 3)), "sigma": np.ones(1000)}
        return one
    monkeypatch.setattr(slab, "pymc_chain", chain)
    system = toy()
    plain = spike_slab(system, 0.3, "mcmc")
    other = spike_slab(LinearSystem(1024*system.X, 2*system.y), 0.3, "mcmc")
    assert len(list(tmp_path.iterdir())) == 4
    np.testing.assert_allclose(other.coef, plain.coef*2/1024)
    np.testing.assert_allclose(other.draws.posterior["sigma"], 2*plain.draws.posterior["sigma"])


def test_subsets_by_name_or_number():
    found = spike_slab(toy(), 0.3)
    assert found.of(["x0", "x1"]) == found.of((0, 1)) and found.of([]) == found.probability[0]
    for wrong in (["x7"], [7], [True]):
        with pytest.raises(ValueError, match="not among the 3 candidates"): found.of(wrong)
    with pytest.raises(TypeError, match="must be a list"): found.of("x0")


def test_any_generator_will_do():
    legacy, present = (spike_slab(toy(), 0.3, seed=rng(0)) for rng in (np.random.RandomState, np.random.default_rng))
    assert legacy.coef.shape == present.coef.shape


def test_part_of_a_chain_is_not_kept(monkeypatch, tmp_path):
    "An interrupted PyMC returns the draws it has; they must not pass for the chain."
    import ubic.slab as slab
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path))
    part = {"coef": np.zeros((30, 3)), "inclusion": np.ones((30, 3)), "sigma": np.ones(30)}
    monkeypatch.setattr(slab, "pymc_chain", lambda *_: lambda seed: part)
    for cache in (True, False):
        with pytest.raises(KeyboardInterrupt): spike_slab(toy(), 0.3, "mcmc", draws=500, cache=cache)
    assert not list(tmp_path.iterdir())


def test_nothing_included():
    rng = np.random.default_rng(0)
    found = spike_slab(LinearSystem(rng.standard_normal((50, 3)), rng.standard_normal(50)), 1e-9)
    assert found.support == () and not np.isnan(found.uncertainty).any()


def test_rows_counted_by_one_number():
    with pytest.raises(ValueError, match="`n_eff` must be"): spike_slab(toy(), 0.3, n_eff=np.array([3, 4]))
