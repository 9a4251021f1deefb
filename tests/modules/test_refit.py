"Total least squares: its covariance, its estimates, its rules, its part in a discovery, and bad input."
import warnings
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

import ubic
from fits import bars, fit_with
from signs import heat_waves
from ubic import library
from ubic.choice.refit import Refitter, noise_operator, spread_back
from ubic.ground.checks import UbicWarning
from ubic.refit import total_least_squares
from ubic.terms import parse_term

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


@pytest.fixture(scope="module")
def burgers(): return ubic.datasets.burgers()


def two_unknowns(noise=5):
    x, t = np.arange(96)*20/96, np.linspace(0, 4, 61)
    start = xr.Dataset({"u": ("x", np.cos(2*np.pi*x/20)), "v": ("x", 10*np.sin(4*np.pi*x/20))}, {"x": x})
    pde = {"u": {"u_xx": 0.5, "v": 0.08}, "v": {"v_xx": 0.3, "u*v_x": -1.0}}
    return pde, ubic.add_noise(ubic.simulate(pde, start, t), noise, seed=1)


def two_axes(noise=5):
    rng, x = np.random.default_rng(0), np.arange(32)*10/32
    def wave(a, b): return rng.normal()*np.cos(2*np.pi*(a*x[:, None] + b*x)/10 + rng.uniform(0, 6))
    u = sum(wave(a, b) for a in range(3) for b in range(3))
    pde = {"u_x": -1.0, "u_xx": 0.1, "u_yy": 0.1}
    start = xr.Dataset({"u": (("x", "y"), u)}, {"x": x, "y": x})
    return pde, ubic.add_noise(ubic.simulate({"u": pde}, start, np.linspace(0, 2, 41)), noise, seed=0)


def dense_operator(refitter, operators, name): # A of one unknown as a matrix
    shape = refitter.field[name].shape
    def column(i):
        unit = np.zeros(shape)
        unit.flat[i] = 1
        return refitter.boxes((axes, field*unit, 1.0) for axes, field in operators[name].items())
    return np.stack([column(i) for i in range(np.prod(shape))], axis=1)


def test_covariance_is_that_of_the_dense_matrix():
    pde, field = two_unknowns()
    field = field.isel(x=slice(0, 40), t=slice(0, 24))
    terms = [parse_term(name) for name in ("v_xx", "u*v_x", "v*u_x")]
    refitter = Refitter(field, "v", {"x": (8, 3), "t": (6, 3)})
    operators = noise_operator(refitter.target, terms, [0.3, -1.0, 0.2], refitter.system(refitter.measured, terms)[2])
    dense = sum(refitter.noise[name]**2*(A := dense_operator(refitter, operators, name)) @ A.T for name in ("u", "v"))
    covariance = refitter.pairs.covariance(operators, refitter.noise)
    np.testing.assert_allclose(covariance, dense, rtol=1e-8, atol=1e-9*np.abs(dense).max())


def test_spreading_back_is_the_transpose():
    pde, field = two_unknowns()
    terms = [parse_term(name) for name in pde["v"]]
    refitter = Refitter(field, "v", library.automatic_box(field, 2))
    operators = noise_operator(refitter.target, terms, [0.3, -1.0], refitter.system(refitter.measured, terms)[2])
    rng = np.random.default_rng(0)
    change = {name: rng.standard_normal(u.shape) for name, u in refitter.measured.items()}
    multipliers = rng.standard_normal(refitter.rows)
    back = spread_back(refitter, operators, multipliers)
    forth = refitter.boxes(
        (axes, piece*refitter.noise[name]**2*change[name], 1.0)
        for name, pieces in operators.items() for axes, piece in pieces.items()
    )
    assert np.isclose(forth @ multipliers, sum(np.sum(change[name]*back[name]) for name in back))


@pytest.mark.parametrize("scene", [two_unknowns, two_axes])
def test_intervals_hold_the_truth(scene):
    pde, field = scene()
    pde = pde if "u" in pde and isinstance(pde["u"], dict) else {"u": pde}
    for target, terms in pde.items():
        fit = total_least_squares(field, list(terms), target)
        assert fit.fair and (np.abs(fit.coef - list(terms.values())) < 3.5*fit.std).all()


def test_beating_takes_more_than_chance():
    rng = np.random.default_rng(0)
    fit = total_least_squares(two_unknowns()[1], ["u_xx", "v"], "u")
    def with_residual(residual): return replace(fit, residual=residual)
    noise = rng.standard_normal(300)
    same, other, worse = with_residual(noise), with_residual(rng.standard_normal(300)), with_residual(noise + 0.8)
    assert not same.beats(other) and not other.beats(same) and same.beats(worse) and not worse.beats(same)


@pytest.mark.parametrize("noise", [1, 2])
def test_coarse_grids_keep_least_squares(noise): # at little noise the grid, not the noise, limits the second equation
    pde, field = two_unknowns(noise)
    offered = ubic.candidates(["u", "v"], "x", 2, derivative_order=2)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        found = ubic.discover(field, target="v", terms=offered)["v"]
    coef = np.array([found.pde()["v"][term] for term in pde["v"]])
    assert set(map(str, found.terms)) == set(pde["v"])
    assert np.abs(coef/list(pde["v"].values()) - 1).max() < 0.015


def test_noise_does_not_pull_coefficients_to_zero():
    ks = ubic.add_noise(ubic.datasets.ks(), 100, seed=301)
    terms = ["u_xx", "u_xxxx", "u*u_x"]
    system = library.weak(ks, terms=terms)
    plain = np.linalg.lstsq(system.R[:, :-1], system.R[:, -1], rcond=None)[0]
    assert (np.abs(plain) < 0.96).all() and (np.abs(np.abs(total_least_squares(ks, terms).coef) - 1) < 0.035).all()


def test_other_units_give_the_same_equation(burgers):
    noisy = ubic.add_noise(burgers, 30, seed=3)
    other = noisy.assign_coords(x=noisy.x*1000, t=noisy.t/3600).map(lambda u: 500*u)
    first, second = (total_least_squares(field, ["u_xx", "u*u_x"]) for field in (noisy, other))
    units = np.array([1000**2*3600, 1000*3600/500])
    np.testing.assert_allclose(second.coef, first.coef*units, rtol=1e-6)
    np.testing.assert_allclose(second.std, first.std*units, rtol=1e-5)
    assert np.isclose(first.score, second.score, rtol=1e-5)


def test_the_right_equation_wins_at_heavy_noise(burgers):
    loud = ubic.add_noise(burgers, 150, seed=32) # least squares prefers another term here
    system = library.weak(loud)
    assert "u*u_x" not in map(str, ubic.select(ubic.best_subsets(system)).terms)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        found, grown = ubic.discover(loud, terms=system.terms)["u"], ubic.discover(loud)["u"]
    assert set(map(str, found.terms)) == {"u_xx", "u*u_x"}
    named = [set(map(str, terms)) for terms in (grown.terms, *grown.rivals)] # among cubes too, it is not forgotten
    assert {"u_xx", "u*u_x"} in named and grown.verdict == "ambiguous"
    assert any("Least squares alone" in sentence for sentence in found.advice)
    assert found.path.supports[found.k] == found.support and found.table()["chosen"].eq("✓").sum() == 1


def test_discovery_carries_the_refit(burgers):
    noisy = ubic.add_noise(burgers, 30, seed=0)
    found = ubic.discover(noisy)["u"]
    again = total_least_squares(noisy, found.terms)
    assert np.array_equal(found.coef, again.coef) and np.array_equal(found.std, again.std)
    assert not np.array_equal(found.coef, found.path.coef[found.k])


@pytest.mark.parametrize("settings", [{"mode": "paper"}, {"form": "pysindy"}])
def test_the_papers_ways_stay_least_squares(burgers, settings):
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        assert ubic.discover(ubic.add_noise(burgers, 30, seed=0), derivative_order=2, **settings)["u"].refit is None


def test_clean_data_are_fitted_as_far_as_the_grid_allows(burgers):
    assert not total_least_squares(burgers, ["u_xx", "u*u_x"]).fair
    with warnings.catch_warnings(action="ignore", category=UbicWarning): found = ubic.discover(burgers)["u"]
    truth = {"u_xx": 0.1, "u*u_x": -1.0}
    assert {str(term) for term in found.terms} == set(truth) and not found.refit.fair and found.verdict == "clear"
    for term, c, std in zip(found.terms, found.coef, found.std): assert abs(c - truth[str(term)]) < 3*std < 1e-4


def test_the_contest_stays_within_the_sizes_asked_for(burgers):
    with warnings.catch_warnings(record=True, action="always") as caught:
        found = ubic.discover(ubic.add_noise(burgers, 30, seed=1), max_size=1)["u"]
    doubts = [str(w.message) for w in caught if "Ambiguous" in str(w.message)]
    assert found.size == 1 and not any("," in doubt.split(": ")[-1].split(";")[0] for doubt in doubts)


def test_wide_boxes_leave_no_room_for_a_refit(burgers):
    noisy = ubic.add_noise(burgers, 10, seed=0)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        assert ubic.discover(noisy, derivative_order=2, half_width={"x": 7.9, "t": 4.9})["u"].refit is None


@pytest.mark.parametrize("arguments, message", [
    (dict(terms=[]), "`terms` is empty"), (dict(terms=["v"]), "has no 'v'"),
    (dict(terms=["u"], target="w"), "`target`"), (dict(terms="u_xx"), "list of terms"),
    (dict(terms=["u_xx", "u_xx"]), "more than once"), (dict(terms=["u_xx"], order=1), "`order` along x"),
    (dict(terms=["u_xx"], half_width=100.0), "`half_width` along x"),
    (dict(terms=["u", "u_x", "u_xx", "u^2", "u*u_x"], half_width={"x": 7.9, "t": 4.9}), "too few to fit 5 `terms`")])
def test_bad_input_gets_a_sentence(burgers, arguments, message):
    noisy = ubic.add_noise(burgers, 10, seed=0)
    with pytest.raises((ValueError, TypeError), match=message): total_least_squares(noisy, **arguments)


def test_terms_that_cannot_be_told_apart():
    x, t = np.arange(64)*2*np.pi/64, np.linspace(0, 1, 40)
    wave = ubic.as_field(np.sin(x)[:, None]*np.exp(-t), x=x, t=t)
    with pytest.raises(ValueError, match="`terms` u, u_xx cannot be told apart"):
        total_least_squares(wave, ["u", "u_xx"])


@pytest.mark.slow
@pytest.mark.parametrize("noise", [10, 30])
def test_intervals_cover(burgers, noise):
    fields = (ubic.add_noise(burgers, noise, seed=seed) for seed in range(7000, 7100))
    fits = [total_least_squares(field, ["u_xx", "u*u_x"]) for field in fields]
    held = np.mean([np.abs(fit.coef - [0.1, -1]) < 1.96*fit.std for fit in fits], axis=0)
    assert ((0.85 <= held) & (held <= 0.99)).all(), held


# --- the chosen equation fitted once more -----------------------------------------------------------------------------

def test_certain_terms_are_two_standard_deviations_from_zero():
    assert fit_with(coef=(1.0, 0.199, -0.199, 0.201, -0.201), std=[0.1]*5).certain == ["x0", "x3", "x4"]


@pytest.mark.parametrize("left, explained", [(1.0, True), (1.24, True), (1.26, False), (2.0, False)])
def test_an_equation_explains_the_data_when_noise_is_what_is_left(left, explained):
    "The variance of 200 boxes of noise is 1 ± √(2/200) = 1 ± 0.1, and 2.5 times that deviation is allowed: up to 1.25."
    fit = fit_with(left=left, rows=200)
    assert fit.fair and fit.explains == explained and fit.leaves_more == (not explained)


def test_a_fit_that_leaves_too_little_or_has_not_settled_explains_nothing():
    assert not fit_with(left=0.3).explains and fit_with().explains
    assert not replace(fit_with(), converged=False).explains


@pytest.mark.parametrize("excess, fair", [(0.66, False), (0.67, True), (1.49, True), (1.51, False)])
def test_a_fair_fit_leaves_two_thirds_to_three_halves_of_the_noise(excess, fair):
    assert fit_with(left=excess**2).fair == fair


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_fit_pays_log_n_for_each_term(size):
    "The score is BIC: boxes · log(mean square of what is left) + terms · log(boxes); AIC would take 2 per term."
    fit = fit_with(coef=[1.0]*size, std=[0.1]*size, left=1.2, rows=200)
    assert fit.score == pytest.approx(200*np.log(1.2) + size*np.log(200))


def test_a_fit_beats_another_by_more_than_six():
    "Two terms that change nothing cost 2 log 20 = 5.99 in 20 boxes, 2 log 21 = 6.09 in 21."
    for boxes, beaten in ((20, False), (21, True)):
        short, long = (fit_with(coef=[1.0]*size, std=[0.1]*size, rows=boxes) for size in (1, 3))
        assert short.beats(long) == beaten and not long.beats(short)


def test_a_picture_shows_two_standard_deviations():
    "Deviations of 0.1 are 10 % of 1 and 5 % of 2."
    ax = fit_with(coef=(1.0, 2.0), std=(0.1, 0.1)).plot(ax=Figure().subplots())
    assert bars(ax) == pytest.approx([20, 10])


def test_a_refit_is_less_sure_the_more_is_left():
    "Without its decay the equation leaves more than noise; that part does not average out, however many the boxes."
    whole, lacking = (total_least_squares(heat_waves(decay), ["u_xx"]) for decay in (0, 0.04))
    assert whole.explains and not lacking.explains and lacking.excess > 1.5*whole.excess
    limit = 1 + 2.5*np.sqrt(2/lacking.rows)
    assert whole.systematic == 0 and lacking.systematic == pytest.approx(1 - limit/lacking.excess**2)
    by_chance = lacking.excess/whole.excess
    expected = by_chance*np.sqrt(1 + lacking.rows*lacking.systematic)
    assert lacking.std[0]/whole.std[0] == pytest.approx(expected, rel=0.1) and expected > 3*by_chance


def test_what_is_left_must_be_white():
    from dataclasses import replace
    selection = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0))["u"]
    assert selection.refit.white and selection.verdict == "clear"
    rng, (rows, columns) = np.random.default_rng(0), selection.refit.shape
    striped = np.repeat(rng.standard_normal((rows, columns//2 + 1)), 2, axis=1)[:, :columns].ravel()
    doubtful = replace(selection, refit=replace(selection.refit, residual=striped))
    assert not doubtful.refit.white and doubtful.verdict == "fragile"
    assert "neighbouring boxes" in doubtful.verdict.reasons[0]
