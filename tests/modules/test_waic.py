"""UWAIC: closed form and draws agree with brute force, with each other and with published numbers; bad input gets a
sentence."""
import re
import sys
import warnings

import numpy as np
import pytest
from calibration import ranks, uniform
from scipy import integrate, stats

from ubic import waic
from ubic.field import UbicWarning
from ubic.posterior import evidence
from ubic.sampling import likelihood
from ubic.subsets import best_subsets
from ubic.system import LinearSystem, from_triangle
from ubic.waic import gaussian_rows, sampled_rows, uwaic

rng = np.random.default_rng(0)
X = rng.standard_normal((600, 2))
y = X @ [1.0, 0.0] + 0.3*rng.standard_normal(600)
path = best_subsets(LinearSystem(X, y, terms=["u", "u_x"]))


@pytest.mark.parametrize("n", [6, 30, 10_000])
@pytest.mark.parametrize("e, v", [(0.0, 0.0), (0.4, 0.02), (1.5, 0.3)])
def test_closed_form_is_the_integral(n, e, v):
    "The mean likelihood of a row against adaptive quadrature over the precision."
    log_mean, _ = gaussian_rows(np.array([e]), np.array([v]), 0.25, n)
    gamma = stats.gamma(n/2, scale=2/(n*0.25))
    def height(w): return gamma.pdf(w)*stats.norm(0, np.sqrt(1/w + v)).pdf(e)
    expected = integrate.quad(height, *gamma.ppf([1e-14, 1 - 1e-14]), epsabs=0, epsrel=1e-9, limit=500)[0]
    assert log_mean[0] == pytest.approx(np.log(expected), abs=1e-5)


def test_variance_is_that_of_draws():
    many, n, noise = 1_000_000, 20, 0.25
    e, v = np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.0, 0.05])
    draws = np.random.default_rng(1)
    w, z = draws.gamma(n/2, 2/(n*noise), (many, 1)), e + np.sqrt(v)*draws.standard_normal((many, 3))
    assert gaussian_rows(e, v, noise, n)[1] == pytest.approx((np.log(w)/2 - w*z**2/2).var(axis=0), rel=0.02)


def test_rows_in_stretches_give_the_same():
    draws = np.random.default_rng(2)
    coef, sigma = draws.normal(size=(50, 2)), draws.uniform(0.5, 1, 50)
    whole, parts = sampled_rows(X, y, coef, sigma), sampled_rows(X, y, coef, sigma, numbers=333)
    table = stats.norm(X @ coef.T, sigma).logpdf(y[:, None])
    np.testing.assert_allclose(whole, parts)
    np.testing.assert_allclose(whole, [np.log(np.exp(table).mean(axis=1)), table.var(axis=1)])


def test_ingredients_and_scales():
    found = uwaic(path, lam=0.5, mode="paper")
    assert found.variance == pytest.approx(path.sizes + 1, rel=0.15)
    assert found.cv == pytest.approx(evidence(path, "paper").cv)
    assert found.uwaic == pytest.approx(found.loss + found.variance/600 + 0.5*found.cv)
    assert found.deviance == pytest.approx(1200*found.uwaic) and found.elpd == pytest.approx(-600*found.waic)
    assert found.size == 1 and [str(term) for term in found.terms] == ["u"]
    assert found.table()["chosen"].tolist() == ["✓", ""]
    assert "size 1 of 2 (u)" in repr(found) and "<table" in found._repr_html_()
    assert uwaic(path, lam=0, mode="paper").uwaic == pytest.approx(found.waic)


def test_overlapping_rows_count_once():
    "Every row five times, worth the number it was: all but rounding stays."
    once = uwaic(path, n_eff=None)
    often = uwaic(best_subsets(LinearSystem(np.repeat(X, 5, axis=0), np.repeat(y, 5), terms=["u", "u_x"], n_eff=600)))
    assert often.n == once.n == 600
    for name in ("loss", "variance", "cv", "uwaic"):
        assert getattr(often, name) == pytest.approx(getattr(once, name), rel=1e-6)


def test_unit_free_numbers_do_not_depend_on_units():
    other = best_subsets(LinearSystem(X*[1e3, 1e-4], 7*y, terms=["u", "u_x"]))
    assert uwaic(other).uwaic == pytest.approx(uwaic(path).uwaic)
    assert uwaic(other, mode="paper").uwaic != pytest.approx(uwaic(path, mode="paper").uwaic)


def test_picture_has_both_curves():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = uwaic(path).plot()
    assert {"WAIC", "UWAIC"} <= {line.get_label() for line in ax.get_lines()}


def test_perfect_fit_is_finite_with_a_warning():
    with pytest.warns(UbicWarning, match="fit perfectly"): found = uwaic(best_subsets(LinearSystem(X, X @ [1.0, 2.0])))
    assert np.isfinite(found.uwaic).all() and np.isfinite(found.variance).all() and found.size == 2


not_kept = best_subsets(from_triangle(path.system.R, 600))
words = "the 600 rows of this system were not kept"
refused = [
    ("not a path", lambda: uwaic(path.system), TypeError, "`path` must be a SubsetPath, found LinearSystem"),
    ("negative price", lambda: uwaic(path, lam=-1), ValueError,
     "`lam` is -1; give a finite number that is not negative"),
    ("price that is not a number", lambda: uwaic(path, lam=np.nan), ValueError, "`lam` is nan"),
    ("infinite price", lambda: uwaic(path, lam=np.inf), ValueError, "`lam` is inf"),
    ("price in words", lambda: uwaic(path, lam="P75"), TypeError, "`lam` is 'P75'"),
    ("unknown method", lambda: uwaic(path, method="vb"), ValueError,
     "`method` must be 'gaussian' or 'mcmc', found 'vb'"),
    ("unknown mode", lambda: uwaic(path, mode="si"), ValueError, "`mode` must be 'unit_free' or 'paper', found 'si'"),
    ("no rows counted", lambda: uwaic(path, n_eff=0), ValueError, "`n_eff` must be"),
    ("no draws", lambda: uwaic(path, method="mcmc", draws=0), ValueError, "`draws` is 0; give a whole number"),
    ("no chains", lambda: uwaic(path, method="mcmc", chains=0), ValueError, "`chains` is 0; give a whole number"),
    ("rows not kept", lambda: uwaic(not_kept), ValueError, words),
    ("rows not kept, sampled", lambda: uwaic(not_kept, method="mcmc"), ValueError, words),
]


@pytest.mark.parametrize("call, kind, words", [case[1:] for case in refused], ids=[case[0] for case in refused])
def test_refused_in_one_sentence(call, kind, words):
    with pytest.raises(kind, match=words) as caught: call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("package", ["pymc", "nutpie"])
def test_absent_package_is_named_with_its_extra(monkeypatch, package):
    if package == "nutpie": pytest.importorskip("pymc")
    monkeypatch.setitem(sys.modules, package, None)
    waic.compiled_model.cache_clear()
    told = f"needs the package {package}; install it with: pip install \"ubic[bayes]\""
    with pytest.raises(ImportError, match=re.escape(told)): uwaic(path, method="mcmc", cache=False)


def test_closed_form_needs_no_sampler(monkeypatch):
    for package in ("pymc", "nutpie", "arviz"): monkeypatch.setitem(sys.modules, package, None)
    assert uwaic(path).size == 1


class Stopped:
    "A sampler that is interrupted while it is waited for."
    cancelled = False
    def wait(self): raise KeyboardInterrupt
    def cancel(self): Stopped.cancelled = True


def test_interrupted_chain_is_stopped_and_not_kept(monkeypatch, tmp_path):
    nutpie = pytest.importorskip("nutpie")
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path))
    compiled = type("Compiled", (), {"with_data": lambda self, **data: self})()
    monkeypatch.setattr(waic, "compiled_model", lambda p: compiled)
    monkeypatch.setattr(nutpie, "sample", lambda *args, **settings: Stopped())
    with pytest.raises(KeyboardInterrupt): uwaic(path, method="mcmc")
    assert Stopped.cancelled and not list(tmp_path.iterdir())


def agree(closed, drawn):
    "A variance from D draws has the relative Monte-Carlo error sqrt(2/D); a sum of many at most that."
    error = closed.variance*np.sqrt(2/drawn.draws[0].posterior["sigma"].size)
    assert (np.abs(drawn.variance - closed.variance) < 3*error).all()
    assert (np.abs(drawn.elpd - closed.elpd) < 3*error).all()


def test_draws_agree_with_the_closed_form_and_are_kept(monkeypatch, tmp_path):
    "One compiled model for both sizes, two modes, and short chains."
    pytest.importorskip("pymc")
    pytest.importorskip("nutpie")
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path))
    waic.compiled_model.cache_clear()
    for mode in ("paper", "unit_free"):
        drawn = uwaic(path, method="mcmc", mode=mode, chains=2)
        agree(uwaic(path, mode=mode), drawn)
        assert drawn.draws[1].posterior["coef"].mean(("chain", "draw")).values == pytest.approx(path.coef[1], abs=0.01)
        noise = float(drawn.draws[1].posterior["sigma"].mean())
        assert noise == pytest.approx(0.3, rel=0.1), "noise in the units of the data"
        assert (drawn.table()["r_hat"] < 1.02).all() and (drawn.table()["ess"] > 400).all()
    assert waic.compiled_model.cache_info().misses == 1 and len(list(tmp_path.iterdir())) == 8
    short = dict(path=best_subsets(path.system, max_size=1), method="mcmc", draws=20, tune=200, chains=2, cache=False)
    with pytest.warns(UbicWarning, match="cannot be trusted yet.*raise `draws` or `tune` \\(size 1\\)"):
        first, second, third = uwaic(**short), uwaic(**short), uwaic(**short, seed=1)
    assert first.uwaic == second.uwaic != third.uwaic
    monkeypatch.setattr(waic, "subset_chain", lambda *args: pytest.fail("drawn again"))
    again = uwaic(path, method="mcmc", mode="unit_free", chains=2)
    np.testing.assert_array_equal(again.uwaic, drawn.uwaic)


PRINTED = [32610.8, 38725.6, 38730.2, 38736.4, 38746.0] # Burgers, sampled by the authors


def published(reference, name):
    with np.load(reference/f"{name}_weak_system_authors.npz") as file:
        return best_subsets(LinearSystem(file["X"], file["y"].ravel()))


@pytest.mark.parametrize("name, lam, alone, chosen", [("burgers", 1, 6, 2), ("kdv", 10, 10, 2)])
def test_published_choices(reference, name, lam, alone, chosen):
    found = uwaic(published(reference, name), lam, mode="paper")
    assert (found.path.sizes[np.argmin(found.waic)], found.size) == (alone, chosen)
    if name == "burgers": assert found.elpd[:5] == pytest.approx(PRINTED, abs=0.15)


@pytest.mark.slow
def test_draws_agree_with_published_numbers(reference):
    pytest.importorskip("pymc")
    pytest.importorskip("nutpie")
    burgers = published(reference, "burgers")
    closed = uwaic(burgers, mode="paper")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UbicWarning)
        drawn = uwaic(burgers, method="mcmc", mode="paper", draws=2000, cache=False)
    agree(closed, drawn)
    assert drawn.size == 2 and drawn.elpd[:5] == pytest.approx(PRINTED, abs=0.5)


@pytest.mark.slow
def test_draws_agree_with_arviz():
    az, _ = pytest.importorskip("arviz"), pytest.importorskip("pymc")
    drawn = uwaic(path, method="mcmc", mode="paper", chains=2, cache=False)
    coef, sigma = drawn.draws[1].posterior["coef"].values, drawn.draws[1].posterior["sigma"].values
    table = stats.norm(coef @ X.T, sigma[..., None]).logpdf(y)
    theirs = az.waic(az.from_dict(posterior={"sigma": sigma}, log_likelihood={"y": table}))
    assert theirs.elpd_waic == pytest.approx(drawn.elpd[1]) and theirs.p_waic == pytest.approx(drawn.variance[1])


@pytest.mark.slow
def test_draws_are_calibrated():
    "Truths drawn from the prior are at home in their posteriors: ranks of two coefficients and sigma are uniform."
    pytest.importorskip("pymc")
    pytest.importorskip("nutpie")
    X = np.random.default_rng(5).standard_normal((30, 2))

    def draw_prior(rng): return np.append(rng.standard_normal(2), np.abs(rng.standard_cauchy()))

    def simulate(truth, rng):
        y = X @ truth[:2] + truth[2]*rng.standard_normal(30)
        return likelihood(LinearSystem(X, y), "paper")

    def sample(like, seed):
        kept = waic.subset_chain(like, 2, 1000, 500, seed)
        return np.column_stack([kept["coef"], kept["sigma"]])

    chances = uniform(ranks(draw_prior, simulate, sample, 200))
    assert (chances > 0.001).all(), chances
