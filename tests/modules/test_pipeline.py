"The whole road: defaults over seeds, and verdicts from raw data."
import warnings

import numpy as np
import pytest
import xarray as xr

import ubic
from signs import heat_waves, reasons
from standing import standing
from ubic.choice.selection import Reason, ReasonKind
from ubic.field import as_field
from ubic.ground.checks import AmbiguousWarning, Argument, DataWarning, UbicWarning
from ubic.road.looks import hear

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")

def test_rivals_are_told_by_a_kind_of_warning():
    x, t = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    wave = ubic.as_field(np.exp(-t)*np.sin(x)[:, None], x=x, t=t)
    caught = hear(ubic.discover, wave)[1]
    ambiguous, = [one.message for one in caught if issubclass(one.category, AmbiguousWarning)]
    assert ambiguous.about == "u_t" and all(issubclass(one.category, UbicWarning) for one in caught)


def test_a_true_pde_that_cannot_be_read_is_told_in_parts():
    field = ubic.datasets.burgers().isel(x=slice(None, None, 2), t=slice(None, None, 2)).assign_attrs(pde="nonsense")
    caught = hear(ubic.discover, field)[1]
    ignored, = [one.message for one in caught if str(one.message).endswith("; it is ignored.")]
    assert ignored.args[0] == Argument("field.attrs['pde']") and issubclass(type(ignored), DataWarning)


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
def test_what_is_left_keeps_its_kind_in_a_file(tmp_path):
    found = ubic.discover(ubic.datasets.burgers(), max_size=1)
    again = ubic.load_result(found.save(tmp_path/"found.npz"))
    for one in (found, again):
        assert ReasonKind.UNEXPLAINED in [reason.kind for reason in one["u"].verdict.reasons]
        assert isinstance(one["u"].unexplained, Reason) and one["u"].unexplained.details["amount"] > 0
    assert again["u"].unexplained.details == found["u"].unexplained.details
    kept = ubic.load_result(ubic.save_result([*found["u"].verdict.reasons], tmp_path/"reasons.npz"))
    assert [(one, one.kind, one.details) for one in kept] == [
        (one, one.kind, one.details) for one in found["u"].verdict.reasons
    ]
    assert again["u"].verdict.reasons == found["u"].verdict.reasons


slow = pytest.mark.slow


# --- defaults ---------------------------------------------------------------------------------------------------------

def successes(name, noise, seeds):
    clean = getattr(ubic.datasets, name)()
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        return np.array([ubic.discover(ubic.add_noise(clean, noise, seed=seed)).errors()["u"].mean() for seed in seeds])


@pytest.mark.parametrize("name", ["burgers", "kdv", "ks"])
def test_defaults_on_fresh_seeds(name):
    assert np.isfinite(successes(name, 30, [101, 102])).all()


@slow
@pytest.mark.parametrize("noise", [10, 30, 100])
@pytest.mark.parametrize("name, limit", [("burgers", 0.8), ("kdv", 0.35), ("ks", 0.8)])
def test_defaults_ten_seeds(name, limit, noise): # seeds that nothing was tuned on
    errors = successes(name, noise, range(6000, 6010))
    assert np.isfinite(errors).all()
    if noise == 30: assert errors.mean() <= limit


@pytest.mark.parametrize("name", ["burgers", "kdv", "ks"])
def test_clean_data_need_no_extra_terms(name):
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        assert ubic.discover(getattr(ubic.datasets, name)()).errors()["u"].mean() < 0.02


def soliton():
    x, t, c = np.linspace(-30, 30, 256), np.linspace(0, 20, 120), 0.8
    return ubic.as_field(3*c/np.cosh(np.sqrt(c)/2*(x[:, None] - c*(t - 10)))**2, x=x, t=t)


def mode(u):
    x, t = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    return ubic.as_field(u(x[:, None], t), x=x, t=t)


single = {
    "soliton": (soliton(), r"Ambiguous.*u\*u_x, u_xxx"),
    "travelling": (mode(lambda x, t: np.sin(x - t)), "Ambiguous.*u_xxx"),
    "decaying": (mode(lambda x, t: np.exp(-t)*np.sin(x)), "Ambiguous"),
}


@pytest.mark.parametrize("percent", [0, 2, 30])
@pytest.mark.parametrize("name", single)
def test_a_single_wave_is_called_ambiguous(name, percent):
    field, words = single[name]
    if percent: field = ubic.add_noise(field, percent, seed=0)
    with pytest.warns(UbicWarning, match=words): found = ubic.discover(field)
    assert found["u"].verdict == "ambiguous" and str(found).count("mbiguous") == 1 # and once more in the warning


@pytest.mark.parametrize("noise", [0, 5])
def test_warnings_come_once_and_in_the_name_of_the_caller(noise):
    u = np.repeat(np.exp(-0.3*np.linspace(0, 4, 81))[None], 128, 0)
    if noise: u = u + 0.01*np.random.default_rng(0).standard_normal(u.shape)
    field = xr.Dataset({"u": (("x", "t"), u)}, {"x": np.linspace(0, 5, 128), "t": np.linspace(0, 4, 81)})
    with warnings.catch_warnings(record=True, action="always") as caught: ubic.discover(field)
    messages = [str(w.message) for w in caught]
    assert len(messages) == len(set(messages)) and all(w.filename == __file__ for w in caught)
    if not noise: assert any("does not vary along x" in message for message in messages)


def test_a_recipe_says_ambiguous_too():
    with pytest.warns(UbicWarning, match="Ambiguous"): ubic.discover(soliton(), recipe="kdv")


def test_a_jump_keeps_coefficients_in_reason():
    x, t = np.arange(128)/128*20, np.linspace(0, 6, 120)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        found = ubic.discover(ubic.as_field(np.where(x[:, None] - t > 8, 1.0, 0.0), x=x, t=t))["u"]
    assert np.abs(found.coef).max() < 1e3 and np.allclose(found.coef, found.path.coef[found.k], rtol=0.01)
    assert found.verdict != "clear"


def test_steady_unknown_beside_a_moving_one():
    x, t = np.arange(64)/64*2*np.pi, np.linspace(0, 1, 40)
    u = np.sin(x[:, None] - t) + 0.3*np.cos(2*x[:, None] - 4*t)
    field = ubic.as_field({"u": u, "v": np.repeat(np.cos(x)[:, None], 40, 1)}, x=x, t=t)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        with pytest.raises(ValueError, match="nothing to identify"):
            ubic.discover(field, target="v", derivative_order=1, power=1)


def test_denoising_by_default_ksvd_keeps_the_answer():
    noisy = ubic.add_noise(ubic.datasets.burgers(), 30, seed=7)
    assert np.isfinite(ubic.discover(noisy, denoise="ksvd").errors()["u"].mean())


def test_same_seed_same_result():
    first, second = (ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=5))["u"] for _ in range(2))
    assert first.support == second.support
    assert np.array_equal(first.coef, second.coef) and np.array_equal(first.ubic, second.ubic)


def test_two_unknowns_each_get_an_equation():
    x, t = np.linspace(0, 20, 200, endpoint=False), np.linspace(0, 4, 80)
    rng = np.random.default_rng(3)
    def wave(k, c): return rng.normal()*np.cos(2*np.pi*k*(x[:, None] - c*t)/20 + rng.uniform(0, 6))
    waves = [sum(wave(k, c) for k in range(1, 6)) for c in (1.0, -0.5)]
    field = ubic.add_noise(ubic.as_field({"u": waves[0], "v": waves[1]}, x=x, t=t), 5, seed=0)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        found = ubic.discover(field, derivative_order=1, power=1)
    assert found.pde()["u"].keys() == {"u_x"} and found.pde()["v"].keys() == {"v_x"}
    assert np.isclose(found.pde()["u"]["u_x"], -1, rtol=0.02) and np.isclose(found.pde()["v"]["v_x"], 0.5, rtol=0.02)


def test_two_space_axes():
    rng, x = np.random.default_rng(0), np.arange(32)*10/32
    def wave(a, b): return rng.normal()*np.cos(2*np.pi*(a*x[:, None] + b*x)/10 + rng.uniform(0, 6))
    u = sum(wave(a, b) for a in range(3) for b in range(3))
    start = xr.Dataset({"u": (("x", "y"), u)}, {"x": x, "y": x})
    pde = {"u_x": -1.0, "u_xx": 0.1, "u_yy": 0.1}
    field = ubic.add_noise(ubic.simulate({"u": pde}, start, np.linspace(0, 2, 41)), 2, seed=0)
    with warnings.catch_warnings(action="ignore", category=UbicWarning):
        found = ubic.discover(field, derivative_order=2, max_size=5).pde()["u"]
    assert found.keys() == pde.keys() and all(np.isclose(found[term], pde[term], rtol=0.05) for term in pde)


def test_recipe_on_ones_own_field():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=2), recipe="burgers")
    assert set(found.pde()["u"]) == {"u_xx", "u*u_x"} and found["u"].evidence.mode == "paper"


# --- verdicts ---------------------------------------------------------------------------------------------------------

def test_what_clean_data_leave_unexplained_is_told():
    "Without its decay the equation leaves a small share of u_t, but clean data should leave none."
    chosen = ubic.discover(heat_waves(0.15, noise=0), terms=["u_xx"], time_order=1)["u"]
    share = chosen.path.table()["unexplained"].iloc[chosen.k]
    assert 0.005 < share < 0.05
    assert chosen.verdict == "fragile" and "although the data hold hardly any noise" in reasons(chosen)


def test_what_noisy_data_leave_unexplained_is_told():
    chosen = ubic.discover(heat_waves(0.1), terms=["u_xx"], time_order=1)["u"]
    assert chosen.refit is None and chosen.verdict == "fragile"
    assert "times the noise is left unexplained" in reasons(chosen)


def test_single_wave_is_ambiguous():
    z, s = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    for noise in (0, 1, 10):
        heat = as_field(np.exp(-s)*np.sin(z)[:, None], x=z, t=s)
        assert ubic.discover(ubic.add_noise(heat, noise, seed=0) if noise else heat)["u"].verdict == "ambiguous"


def test_single_soliton_is_ambiguous():
    z, s, c = np.linspace(-30, 30, 256), np.linspace(0, 20, 120), 0.8
    soliton = as_field(3*c/np.cosh(np.sqrt(c)/2*(z[:, None] - c*(s - 10)))**2, x=z, t=s)
    for field in (soliton, ubic.add_noise(soliton, 5, seed=0)): assert ubic.discover(field)["u"].verdict == "ambiguous"


@pytest.mark.parametrize("speed", [1, 4])
@pytest.mark.parametrize("noise", [5, 50])
def test_a_travelling_sine_is_ambiguous(speed, noise):
    z, s = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    wave = as_field(np.sin(z[:, None] - speed*s), x=z, t=s)
    for seed in range(4):
        found = ubic.discover(ubic.add_noise(wave, noise, seed=seed), derivative_order=3)
        assert found["u"].verdict == "ambiguous"


def test_wrong_equations_of_clean_data_are_not_clear():
    for field, settings in ((ubic.datasets.kdv(), {"derivative_order": 2}), (ubic.datasets.burgers(), {"max_size": 1})):
        found = ubic.discover(field, **settings)["u"]
        assert found.verdict == "fragile" and any("hardly any noise" in reason for reason in found.verdict.reasons)


def test_burgers_is_clear():
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0))
    assert found["u"].verdict == "clear" and found["u"].path.system.target == "u_t" and "Verdict: clear." in repr(found)


@pytest.mark.parametrize("frequency, terms", [
    (lambda q: 1.5*q, {"u_xx": 2.25}), (lambda q: np.sqrt(q**2 + 2), {"u_xx": 1.0, "u": -2.0}),
])
def test_second_order_in_time_is_found(frequency, terms):
    field = standing(frequency)
    for noise in (0, 20):
        found = ubic.discover(ubic.add_noise(field, noise, seed=1) if noise else field)
        assert found.pde()["u_tt"].keys() == terms.keys()
        for term, coefficient in found.pde()["u_tt"].items(): assert coefficient == pytest.approx(terms[term], rel=0.03)


def test_truth_of_second_order_is_known():
    field = standing(lambda q: 1.5*q).assign_attrs(pde='{"u_tt": {"u_xx": 2.25}}')
    assert ubic.discover(field, time_order=2).errors()["u"].max() < 0.1
    runs = ubic.stability(field, seeds=0, tau0s=[], windows=[1.2], solvers=[], time_order=2)
    assert runs.share == 1 and runs.table()["true"].iloc[0] == "✓"
    wrong = field.assign_attrs(pde='{"u": {"u_xx": 2.25}}')
    assert np.isinf(ubic.discover(wrong, time_order=2).errors()["u"]).all()
