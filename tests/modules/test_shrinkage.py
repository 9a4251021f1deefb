"""The horseshoe: its density, its draws, what is kept of them, and what it says when it cannot work."""
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

from calibration import ranks, uniform
from ubic import sampling, shrinkage
from ubic.field import UbicWarning
from ubic.sampling import diagnostics, likelihood
from ubic.shrinkage import horseshoe, horseshoe_chain, horseshoe_density
from ubic.system import LinearSystem

pytest.importorskip("nutpie")
quick = dict(shrinkage=0.1, mode="paper", draws=500, tune=500, cache=False)


def toy(p=2, n=30, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return LinearSystem(X, X[:, 0] + noise*rng.standard_normal(n))


def arguments(like, pull=0.1):
    return dict(like=like, prior=dict(shrinkage=pull, slab_df=4.0, slab_scale=2.0))


# --- the density ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("p, noise, mode", [(1, 0.5, "paper"), (3, 0.5, "unit_free"), (8, 1e-3, "paper")])
def test_slopes_agree_with_small_steps(p, noise, mode):
    data = arguments(likelihood(toy(p, noise=noise), mode))
    for x in np.random.default_rng(1).standard_normal((5, p + 3)):
        slope = horseshoe_density(x, **data)[1]
        def value(x): return horseshoe_density(x, **data)[0]
        steps = [(value(x + step) - value(x - step))/2e-5 for step in 1e-5*np.eye(p + 3)]
        assert np.allclose(slope, steps, rtol=1e-5, atol=1e-5*np.abs(slope).max())


def pymc_density(like, pull):
    "The same model, written down in PyMC with the shared marginal likelihood; a function of the sampler's vector."
    pm = pytest.importorskip("pymc")
    import pytensor
    import pytensor.tensor as pt
    noise = np.sqrt(like.noise_variance)
    with pm.Model() as model:
        tau = pm.HalfStudentT("tau", nu=1, sigma=pull)
        c2 = pm.InverseGamma("c2", 2, 8)
        sigma = pm.Exponential("sigma", like.noise_variance)
        l = pm.HalfStudentT("l", nu=1, sigma=1, shape=like.system.p)
        scale = tau*pt.sqrt(c2)*l/pt.sqrt(c2 + tau**2*l**2)
        rows = sampling.log_marginal(like.R, like.q, like.n, center=np.zeros(like.system.p), scale=scale, sigma=sigma)
        pm.Potential("rows", rows)
    unknowns = [model.rvs_to_values[variable] for variable in (tau, c2, sigma, l)]
    function = pytensor.function(unknowns, model.logp(), mode=pytensor.compile.mode.Mode("py", None))
    return lambda x: float(function(x[0] + np.log(pull), x[1], x[2] + np.log(noise), x[3:]))


def test_density_is_that_of_the_pymc_model_up_to_a_constant():
    like = likelihood(toy(3), "paper")
    theirs, data = pymc_density(like, 0.1), arguments(like)
    apart = [horseshoe_density(x, **data)[0] - theirs(x) for x in np.random.default_rng(2).standard_normal((10, 6))]
    assert np.ptp(apart) < 1e-8


# --- draws ------------------------------------------------------------------------------------------------------------

def by_quadrature(like, pull, n=40_000, seed=0):
    """Posterior mean and covariance of the coefficients: scales drawn from the prior, and sigma on a grid, weighted by
    the likelihood."""
    rng = np.random.default_rng(seed)
    p, sigma = like.system.p, np.sqrt(like.noise_variance)*np.linspace(0.6, 1.8, 25)
    tau_l = pull*np.abs(rng.standard_cauchy((n, 1))*rng.standard_cauchy((n, p)))
    scale = tau_l/np.sqrt(1 + tau_l**2/(8/rng.gamma(2, size=(n, 1))))
    weight, mean, second = 0, 0, 0
    for s in sigma:
        B = like.R*scale[:, None, :]/s
        V = np.linalg.inv(np.eye(p) + np.swapaxes(B, 1, 2) @ B)
        z = np.einsum("dij,dkj,k->di", V, B, like.q/s)
        left = np.sum((like.q/s - np.einsum("dkj,dj->dk", B, z))**2, axis=1) + np.sum(z**2, axis=1)
        w = np.exp(-like.n*np.log(s) + np.linalg.slogdet(V)[1]/2 - left/2 - like.noise_variance*s)
        weight, mean = weight + w.sum(), mean + w @ (scale*z)
        second = second + np.einsum("d,di,dj->ij", w, scale*z, scale*z)
        second = second + np.einsum("d,dij,di,dj->ij", w, V, scale, scale)
    mean = mean/weight
    return mean, second/weight - np.outer(mean, mean)


def test_draws_agree_with_quadrature():
    system = toy(2)
    mean, covariance = by_quadrature(likelihood(system, "paper"), 0.1)
    found = horseshoe(system, **quick | dict(draws=2000))
    assert np.allclose(found.mean, mean, atol=0.05*np.sqrt(np.diag(covariance)).max())
    assert np.allclose(np.cov(found.coef.T), covariance, atol=0.08*np.abs(covariance).max())


def test_unit_free_mode_does_not_see_units():
    system = toy(2)
    other = LinearSystem(1000*system.X, 7*system.y)
    here, there = (arguments(likelihood(one, "unit_free")) for one in (system, other))
    x = np.random.default_rng(0).standard_normal(5)
    assert np.isclose(horseshoe_density(x, **here)[0], horseshoe_density(x, **there)[0])
    here, there = (horseshoe(one, **quick | dict(mode="unit_free")) for one in (system, other))
    assert np.allclose(there.mean*1000/7, here.mean, atol=0.05)


def test_result_keeps_every_quantity():
    found = horseshoe(toy(2), **quick | dict(chains=2, draws=1000))
    posterior = found.draws.posterior
    numbers, several = (2, 1000), (2, 1000, 2)
    shapes = {"coef": several, "tau": numbers, "l": several, "c2": numbers, "sigma": numbers}
    assert {name: values.shape for name, values in posterior.items()} == shapes
    assert all((posterior[name] > 0).all() for name in ("tau", "l", "c2", "sigma"))
    assert found.draws.sample_stats.diverging.shape == (2, 1000)
    assert list(posterior.l.term.values) == list(found.table().index) == found.likelihood.names


def test_same_seed_same_draws():
    first, again, other = (horseshoe(toy(2), **quick | dict(seed=seed)) for seed in (3, 3, 4))
    assert first.draws.posterior.equals(again.draws.posterior) and not np.allclose(first.coef, other.coef)


@pytest.mark.parametrize("mode", ["paper", "unit_free"])
def test_perfect_fit_stays_finite(mode):
    X = np.random.default_rng(0).standard_normal((30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UbicWarning)
        found = horseshoe(LinearSystem(X, 3*X[:, 0]), **quick | dict(mode=mode))
    assert np.isfinite(found.coef).all() and np.allclose(found.mean, [3, 0], atol=1e-3)


# --- chains, kept -----------------------------------------------------------------------------------------------------

@pytest.fixture
def kept(tmp_path, monkeypatch):
    "An empty cache, and a list of the seeds of chains that are really drawn."
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path))
    drawn = []

    def counted(*settings, seed, **others):
        drawn.append(seed)
        return horseshoe_chain(*settings, seed=seed, **others)

    monkeypatch.setattr(shrinkage, "horseshoe_chain", counted)
    return drawn


def test_chains_are_read_back(kept):
    first = horseshoe(toy(2), **quick | dict(cache=True))
    again = horseshoe(toy(2), **quick | dict(cache=True))
    assert len(kept) == 4 and first.draws.posterior.equals(again.draws.posterior)
    assert first.draws.sample_stats.equals(again.draws.sample_stats)
    horseshoe(toy(2), **quick | dict(cache=True, slab_scale=3))
    assert len(kept) == 8


def test_interrupted_run_goes_on_where_it_stopped(kept, monkeypatch):
    whole, nuts = horseshoe(toy(2), **quick), sampling.nuts_chain
    kept.clear()

    def interrupted(*settings, **others):
        if len(kept) == 3: raise KeyboardInterrupt
        return nuts(*settings, **others)

    monkeypatch.setattr(shrinkage, "nuts_chain", interrupted)
    with pytest.raises(KeyboardInterrupt): horseshoe(toy(2), **quick | dict(cache=True))
    monkeypatch.setattr(shrinkage, "nuts_chain", nuts)
    resumed = horseshoe(toy(2), **quick | dict(cache=True))
    assert len(kept) == 5 and len(set(kept)) == 4 and resumed.draws.posterior.equals(whole.draws.posterior)


class Halted:
    "A sampler that is interrupted while it waits."
    cancelled = False
    def wait(self): raise KeyboardInterrupt
    def cancel(self): self.cancelled = True


def test_half_a_chain_is_thrown_away(monkeypatch):
    import nutpie
    halted = Halted()
    monkeypatch.setattr(nutpie, "sample", lambda *settings, **others: halted)
    with pytest.raises(KeyboardInterrupt): horseshoe(toy(2), **quick)
    assert halted.cancelled


# --- what goes wrong --------------------------------------------------------------------------------------------------

bad_values = [
    dict(shrinkage=0), dict(shrinkage=-1), dict(shrinkage=np.inf), dict(shrinkage=np.nan), dict(slab_df=0),
    dict(slab_scale=-2), dict(draws=0), dict(draws="many"), dict(tune=-1), dict(chains=0), dict(target_accept=1),
    dict(target_accept=0), dict(mode="si"), dict(n_eff=0), dict(seed=-1),
]


@pytest.mark.parametrize("bad", bad_values)
def test_bad_value_is_named(bad):
    with pytest.raises(ValueError, match=f"`{next(iter(bad))}`"): horseshoe(toy(2), **bad)


@pytest.mark.parametrize("bad", [dict(shrinkage="small"), dict(slab_df=None), dict(seed="a")])
def test_bad_kind_is_named(bad):
    with pytest.raises(TypeError, match=f"`{next(iter(bad))}`"): horseshoe(toy(2), **bad)


def test_system_is_asked_for():
    with pytest.raises(TypeError, match="`system`"): horseshoe(np.eye(3))


@pytest.mark.parametrize("missing", ["nutpie", "arviz"])
def test_missing_package_names_the_extra(missing, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == missing]: monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ImportError, match=r"ubic\[bayes\]"): horseshoe(toy(2), **quick)


def test_divergent_draws_are_counted(monkeypatch):
    def diverging(*settings, **others):
        return horseshoe_chain(*settings, **others) | {".diverging": np.arange(500) < 3}

    monkeypatch.setattr(shrinkage, "horseshoe_chain", diverging)
    with pytest.warns(UbicWarning, match="^12 draws diverged") as caught: horseshoe(toy(2), **quick)
    assert caught[0].filename == __file__


def test_short_chains_are_not_trusted():
    with pytest.warns(UbicWarning, match="cannot be trusted") as caught:
        horseshoe(toy(2), **quick | dict(draws=20, tune=20))
    assert caught[0].filename == __file__


# --- slow -------------------------------------------------------------------------------------------------------------

@pytest.mark.slow
def test_works_without_a_compiler():
    program = "; ".join([
        "import numpy as np", "from ubic.system import LinearSystem", "from ubic.shrinkage import horseshoe",
        "X = np.random.default_rng(0).standard_normal((30, 2))",
        "print(horseshoe(LinearSystem(X, X[:, 0] + X[:, 1]**3), draws=500, tune=500, cache=False))",
    ])
    without = os.environ | {"PYTENSOR_FLAGS": "cxx=", "CC": "false", "CXX": "false"}
    done = subprocess.run([sys.executable, "-c", program], env=without, capture_output=True, text=True)
    assert done.returncode == 0 and "regularized horseshoe" in done.stdout, done.stderr


@pytest.mark.slow
def test_published_burgers_system_converges(reference):
    arrays = np.load(reference/"burgers_weak_system_authors.npz")
    found = horseshoe(LinearSystem(arrays["X"], arrays["y"].ravel()), mode="paper", cache=False)
    health = diagnostics(found.draws)
    assert health.r_hat.max() < 1.01 and health.filter(like="coef", axis=0).ess_bulk.min() > 2000
    assert not found.draws.sample_stats.diverging.any()
    factor = found.factor("least_squares")
    assert sorted(np.argsort(factor)[:2]) == [3, 4]
    assert abs(factor[4] - 1.6) < 0.1 and np.sort(factor)[2] > 14


@pytest.mark.slow
def test_calibration():
    "Truths drawn from the prior are at home in their posteriors: ranks of two coefficients and sigma are uniform."
    rng = np.random.default_rng(5)
    X, pull, rate = rng.standard_normal((30, 2)), 0.1, 1.0

    def draw_prior(rng):
        tau_l = pull*np.abs(rng.standard_cauchy()*rng.standard_cauchy(2))
        scale = tau_l/np.sqrt(1 + tau_l**2/(8/rng.gamma(2)))
        return np.append(scale*rng.standard_normal(2), rng.exponential(1/rate))

    def simulate(truth, rng): return LinearSystem(X, X @ truth[:2] + truth[2]*rng.standard_normal(30))

    def sample(system, seed):
        like = likelihood(system, "paper")
        vars(like)["noise_variance"] = rate # the rate of the prior of sigma, which must not depend on the data here
        prior = dict(shrinkage=pull, slab_df=4.0, slab_scale=2.0)
        kept = horseshoe_chain(like, prior, 1000, 500, target_accept=0.95, seed=seed)
        return np.column_stack([kept["coef"], kept["sigma"]])

    chances = uniform(ranks(draw_prior, simulate, sample, 200))
    assert (chances > 0.001).all(), chances
