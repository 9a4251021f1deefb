"Axes: any order of them, steps that are even and steps that are not."
from itertools import permutations

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import ubic
from fields import field, messages, t, u2, u3, x, y
from ubic.field import add_noise, as_field, check_uniform, space_dims, spacing


# --- order ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_any_labelled_order_gives_the_same_field(order):
    dims = tuple("xyt"[i] for i in order)
    ds = as_field(u3.transpose(order), dims=dims, x=x, y=y, t=t)
    assert ds.u.dims == ("x", "y", "t") and np.array_equal(ds.u, u3) and space_dims(ds) == ("x", "y")


@pytest.mark.parametrize("order", [p for p in permutations(range(3)) if p != (0, 1, 2)])
def test_unlabelled_permutation_is_an_error_whose_advice_works(order):
    wrong = u3.transpose(order)
    with pytest.raises(ValueError, match=r"did you mean transpose\(") as caught: as_field(wrong, x=x, y=y, t=t)
    advice = str(caught.value).split("transpose(")[1].split(")")[0]
    assert np.array_equal(as_field(wrong.transpose([int(i) for i in advice.split(",")]), x=x, y=y, t=t).u, u3)


# --- steps ------------------------------------------------------------------------------------------------------------

def test_nearly_uniform_grids_pass(recwarn):
    as_field(u2, x=x + 1e-9 * np.ptp(x) * np.sin(7 * x), t=t)
    as_field(u2, x=np.float32(1000 + x), t=t)
    assert not messages(recwarn)


@pytest.mark.parametrize("step", [1.0, 0.1, 0.01, 0.001])
def test_rounding_that_was_lost_with_an_epoch_is_evened_out(step, recwarn):
    since = (1.7e9 + step * np.arange(200)) - 1.7e9
    even = check_uniform("t", since)
    assert np.ptp(np.diff(even)) < 1e-9 * step and np.abs(even - since).max() < 1e-3 * step
    wave = np.sin(x[:, None] - np.arange(200))
    assert spacing(as_field(wave, x=x, t=since), "t") == pytest.approx(step, rel=1e-5) and not messages(recwarn)
    assert np.array_equal(check_uniform("t", even), even)


SHARES = [(1e-6, True), (1e-4, True), (9e-4, True), (1.1e-3, False), (1e-2, False), (0.3, False)]


@pytest.mark.parametrize("share, passes", SHARES)
def test_a_thousandth_of_a_step_is_the_bound(share, passes):
    uneven = r"`x` is not uniform: \S+ at index \d+ is \S+ away from an even grid \(steps"
    for length, origin in ((50, 0.0), (2000, 1e4)):
        values = origin + 0.01 * (np.arange(length) + share * np.where(np.arange(length) % 7 == 3, 1, 0))
        if passes: assert np.ptp(np.diff(check_uniform("x", values))) < 1e-7
        else:
            with pytest.raises(ValueError, match=uneven): check_uniform("x", values)


def test_what_is_evened_out_does_not_matter():
    "Frames taken a thousandth of a step beside their place change coefficients by much less than their uncertainty."
    clean = ubic.datasets.burgers()
    random = np.random.default_rng(0).uniform(-1, 1, clean.sizes["t"] - 2)
    moved = clean.t.values + np.r_[0, 1e-3 * spacing(clean, "t") * random, 0]
    beside = clean.copy(data={"u": make_interp_spline(clean.t.values, clean.u.values, k=7, axis=1)(moved)})
    for noise, most in ((1, 1e-5), (30, 1e-5)):
        exact, shifted = (ubic.discover(add_noise(field, noise, seed=0))["u"] for field in (clean, beside))
        assert shifted.terms == exact.terms and np.abs(shifted.coef / exact.coef - 1).max() < most
        assert np.abs((shifted.coef - exact.coef) / exact.std).max() < 0.02
    labelled = ubic.discover(add_noise(clean.assign_coords(t=moved), 30, seed=0))["u"]
    even = ubic.discover(add_noise(clean, 30, seed=0))["u"]
    assert labelled.coef == pytest.approx(even.coef, rel=1e-9)


@pytest.mark.parametrize("origin, step, off", [(5e6, 10, 2), (1e6, 1, 0.4)])
def test_single_precision_hides_no_uneven_step(origin, step, off):
    u, times = np.random.default_rng(0).random((60, 40)), np.arange(40.0)
    even = origin + step*np.arange(60.0)
    assert as_field(u, x=np.float32(even), t=times).x.diff("x").std() < 1e-6*step
    uneven = np.float32(even + off*(np.arange(60) % 5 == 2))
    with pytest.raises(ValueError, match="`x` is not uniform"): as_field(u, x=uneven, t=times)


def test_a_distant_origin_hides_no_uneven_step():
    seconds, noise = 1.7e9 + np.arange(40), np.random.default_rng(0).standard_normal(40)
    with pytest.raises(ValueError, match="`t` is not"): check_uniform("t", seconds + 0.4 * noise)
    with pytest.raises(ValueError, match="not uniform"): check_uniform("t", seconds + 0.4 * np.tanh(noise))
    assert np.array_equal(check_uniform("t", seconds), seconds)
    assert len(check_uniform("t", 1.7e9 + 0.1 * np.arange(40))) == 40
    wave = np.sin(x[:, None] - 0.1 * np.arange(40))
    with pytest.raises(ValueError, match="not uniform"): as_field(wave, x=x, t=seconds + 0.4 * np.tanh(noise))
    assert spacing(as_field(wave, x=x, t=seconds), "t") == 1
