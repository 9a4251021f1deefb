"""The periodic solver against exact solutions, in other units, and on inputs that cannot be run."""
import warnings

import numpy as np
import pytest
import xarray as xr

from ubic.field import UbicWarning
from ubic.spectral import simulate


def frame(n=64, length=2*np.pi, start=np.sin, **others):
    x = length*np.arange(n)/n
    return xr.Dataset({"u": ("x", start(x)), **{name: ("x", f(x)) for name, f in others.items()}}, {"x": x})


@pytest.mark.parametrize("n", [31, 32])
@pytest.mark.parametrize("pde, rate", [
    ({"u_xx": 0.3}, -0.3*9), ({"u_xxxx": -0.1}, -0.1*81), ({"u": -0.7, "u_xx": 0.1}, -1.6),
])
def test_modes_decay_exactly(n, pde, rate):
    initial = frame(n, start=lambda x: np.cos(3*x))
    out = simulate(pde, initial, [0, 0.5, 1])
    np.testing.assert_allclose(out.u[:, -1], np.exp(rate)*initial.u, rtol=0, atol=1e-13)
    assert out.u.dims == ("x", "t") and "diverged_at" not in out.attrs


@pytest.mark.parametrize("pde", [{"u_x": -1}, {"u_xxx": 1}])
def test_odd_derivatives_travel(pde):
    initial = frame(start=np.sin)
    out = simulate(pde, initial, np.linspace(0, 2*np.pi, 4))
    np.testing.assert_allclose(out.u[:, -1], initial.u, rtol=0, atol=1e-12)
    np.testing.assert_allclose(out.u[:, 1], np.sin(initial.x - out.t.values[1]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("term", ["u_x", "u_xxx"])
def test_odd_derivatives_of_a_sawtooth_vanish(term):
    "On an even number of points (-1)^i has no direction, so nothing moves it; next to it a wave travels as ever."
    sawtooth = (-1.0)**np.arange(16)
    out = simulate({term: 1}, frame(16, start=lambda x: sawtooth), [0, 0.5, 1])
    np.testing.assert_allclose(out.u, sawtooth[:, None]*np.ones(3), rtol=0, atol=1e-13)
    both = simulate({"u_x": -1}, frame(16, start=lambda x: sawtooth + np.sin(x)), [0, 0.5, 1])
    np.testing.assert_allclose(both.u[:, -1], sawtooth + np.sin(both.x - 1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("pde, speed", [({"u_x": -1}, 1), ({"u_xxx": 1}, 49)])
def test_on_an_odd_number_of_points_the_shortest_wave_travels_too(pde, speed):
    "Seven waves on 15 points have a sine and a cosine, so that nothing has to be left out."
    out = simulate(pde, frame(15, start=lambda x: np.sin(7*x)), [0, 0.01, 0.02])
    np.testing.assert_allclose(out.u[:, -1], np.sin(7*(out.x - 0.02*speed)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dim", ["x", "y"])
def test_odd_derivatives_of_a_sawtooth_vanish_along_both_axes(dim):
    x, y = 2*np.pi*np.arange(16)/16, 2*np.pi*np.arange(8)/8
    stripes = (-1.0)**np.indices((16, 8))["xy".index(dim)]
    initial = xr.Dataset({"u": (("x", "y"), stripes)}, {"x": x, "y": y})
    for term in (f"u_{dim}", "u_xy"):
        out = simulate({term: 1}, initial, [0, 1])
        np.testing.assert_allclose(out.u[..., -1], stripes, rtol=0, atol=1e-13)
    decay = simulate({f"u_{dim}{dim}": 0.1}, initial, [0, 1]).u[..., -1] # even derivatives see it
    np.testing.assert_allclose(decay, np.exp(-0.1*(initial.sizes[dim]/2)**2)*stripes, rtol=0, atol=1e-13)


@pytest.mark.parametrize("sizes, dim", [((15, 8), "y"), ((16, 9), "x"), ((8, 15), "x")])
def test_a_sawtooth_beside_an_odd_axis_stays(sizes, dim):
    x, y = (2*np.pi*np.arange(size)/size for size in sizes)
    stripes = (-1.0)**np.indices(sizes)["xy".index(dim)]
    out = simulate({f"u_{dim}": 1}, xr.Dataset({"u": (("x", "y"), stripes)}, {"x": x, "y": y}), [0, 1])
    np.testing.assert_allclose(out.u[..., -1], stripes, rtol=0, atol=1e-13)


def test_burgers_against_cole_hopf():
    nu, x = 0.2, 2*np.pi*np.arange(128)/128
    def exact(t):
        decay = np.exp(-nu*t)
        return 2*nu*0.9*decay*np.sin(x)/(1 + 0.9*decay*np.cos(x))
    initial = xr.Dataset({"u": ("x", exact(0))}, {"x": x})
    out = simulate({"u": {"u*u_x": -1, "u_xx": nu}}, initial, np.linspace(0, 2, 11))
    for j, t in enumerate(out.t.values): np.testing.assert_allclose(out.u[:, j], exact(t), rtol=0, atol=1e-8)


def test_soliton_and_conserved_quantities():
    x, c = -20 + 40*np.arange(256)/256, 4.0
    def soliton(t): return 3*c/np.cosh(np.sqrt(c)/2*(x + 8 - c*t))**2
    out = simulate({"u_xxx": -1, "u*u_x": -1}, xr.Dataset({"u": ("x", soliton(0))}, {"x": x}), np.linspace(0, 4, 41))
    np.testing.assert_allclose(out.u[:, -1], soliton(4), rtol=0, atol=1e-6)
    assert np.ptp(out.u.values.sum(0)) < 1e-11*out.u.values[:, 0].sum()


def test_order_four():
    initial = frame()
    pde = {"u*u_x": -1, "u_xx": 0.1, "u^3": -0.5}
    runs = [simulate(pde, initial, [0, 1], steps=n).u.values[:, -1] for n in (16, 32, 64, 1024)]
    errors = [np.linalg.norm(run - runs[-1]) for run in runs[:-1]]
    assert 13 < errors[0]/errors[1] < 19 and 13 < errors[1]/errors[2] < 19


def test_products_that_are_not_exact_derivatives():
    # u_t = u*u_xx + u^2 keeps the form a(t)*(1 + cos x): then a' = a^2
    x = 2*np.pi*np.arange(32)/32
    out = simulate({"u*u_xx": 1, "u^2": 1}, xr.Dataset({"u": ("x", 0.2*(1 + np.cos(x)))}, {"x": x}), [0, 0.5, 1])
    np.testing.assert_allclose(out.u[:, -1], 0.2/(1 - 0.2)*(1 + np.cos(x)), rtol=0, atol=1e-7)


def test_constant_term_and_plain_growth():
    out = simulate({"1": 2.0, "u": -1.0}, frame(8, start=np.zeros_like), [0, 1])
    np.testing.assert_allclose(out.u[:, -1], 2*(1 - np.exp(-1)), rtol=1e-12)


def test_two_unknowns_and_two_axes():
    x, y = 2*np.pi*np.arange(16)/16, 2*np.pi*np.arange(10)/10
    u = np.sin(x)[:, None]*np.cos(y)
    initial = xr.Dataset({"v": (("y", "x"), 0*u.T), "u": (("y", "x"), u.T)}, {"x": x, "y": y})
    wave_equation = {"u": {"v": 1, "u_xy": 0}, "v": {"u_xx": 1, "u_yy": 1}}
    out = simulate(wave_equation, initial, np.linspace(0, 1, 6))
    assert out.u.dims == ("x", "y", "t")
    np.testing.assert_allclose(out.u[..., -1], np.cos(np.sqrt(2))*u, rtol=0, atol=1e-7)


def test_mixed_and_three_axes():
    c = 2*np.pi*np.arange(8)/8
    u = np.sin(c[:, None, None] + c[:, None] + c)
    initial = xr.Dataset({"u": (("x", "y", "z"), u)}, {"x": c, "y": c, "z": c})
    out = simulate({"u_xy": 0.5, "u_zz": 0.5}, initial, [0, 1])
    np.testing.assert_allclose(out.u[..., -1], np.exp(-1)*u, rtol=0, atol=1e-13)


@pytest.mark.parametrize("a, b, c", [(1e3, 1.0, 1.0), (1.0, 1e-4, 1.0), (1e-3, 50.0, 1e3)])
def test_units(a, b, c):
    "u' = a u, x' = b x, t' = c t with coefficients converted: the same field."
    initial, t = frame(64), np.linspace(0, 1, 6)
    plain = simulate({"u_xx": 0.1, "u*u_x": -1}, initial, t)
    scaled = simulate({"u_xx": 0.1*b**2/c, "u*u_x": -b/(a*c)}, (a*initial).assign_coords(x=b*initial.x), c*t)
    np.testing.assert_allclose(scaled.u/a, plain.u, rtol=0, atol=1e-8)


def test_frame_of_a_field_continues_it():
    t = np.linspace(0, 1, 11)
    whole = simulate({"u_xx": 0.1, "u*u_x": -1}, frame(), t)
    rest = simulate({"u_xx": 0.1, "u*u_x": -1}, whole.isel(t=5), t[5:])
    np.testing.assert_allclose(rest.u, whole.u[:, 5:], rtol=0, atol=1e-8)


@pytest.mark.parametrize("steps", [None, 64])
def test_finite_time_blow_up(steps):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = simulate({"u^2": 1}, frame(8, start=np.ones_like), np.linspace(0, 2, 8), steps=steps)
    assert abs(out.attrs["diverged_at"] - 1) < 0.02
    assert np.isfinite(out.u[:, :4]).all() and np.isnan(out.u[:, 4:]).all()


@pytest.mark.parametrize("pde", [{"u_xx": -1}, {"u_xx": -1e6}, {"u_xxxx": 1, "u*u_x": -1}])
def test_ill_posed_equations_diverge_quietly(pde):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out = simulate(pde, frame(128), np.linspace(0, 10, 11))
    assert 0 < out.attrs["diverged_at"] <= 10 and np.isnan(out.u[:, -1]).all() and np.isfinite(out.u[:, 0]).all()


def test_missed_tolerance_is_a_warning():
    pde = {"u*u_x": -1, "u_xx": 0.5}
    with pytest.warns(UbicWarning, match="tolerance"): simulate(pde, frame(16), [0, 0.5], tolerance=1e-20)


two = frame(v=np.cos)
bad = {
    "term twice": ({"u*u_x": 1, "u_x*u": 1}, frame(), [0, 1], {}, ValueError, "more than once"),
    "no mapping": ("u_xx", frame(), [0, 1], {}, TypeError, "`pde`"),
    "empty": ({}, frame(), [0, 1], {}, TypeError, "`pde`"),
    "no target": ({"u_xx": 1}, two, [0, 1], {}, ValueError, "unknowns as keys"),
    "unknown without equation": ({"u": {"v*u_x": 1}}, two, [0, 1], {}, ValueError, "no equation for v"),
    "equation without start": ({"w": {"w_x": 1}}, frame(), [0, 1], {}, ValueError, "does not have"),
    "missing axis": ({"u_yy": 1}, frame(), [0, 1], {}, ValueError, "no axis y"),
    "time derivative": ({"u_tt": 1}, frame(), [0, 1], {}, ValueError, "no axis t"),
    "coefficient": ({"u_xx": float("inf")}, frame(), [0, 1], {}, ValueError, "finite"),
    "coefficient type": ({"u_xx": "0.1"}, frame(), [0, 1], {}, ValueError, "finite"),
    "term": ({"sin(u)": 1}, frame(), [0, 1], {}, ValueError, "the `pde` term"),
    "many frames": ({"u_xx": 1}, simulate({"u_xx": 1}, frame(), [0, 1]), [0, 1], {}, ValueError, "2 frames"),
    "nan": ({"u_xx": 1}, frame(start=lambda x: np.where(x > 1, np.nan, x)), [0, 1], {}, ValueError, "not finite"),
    "complex": ({"u_xx": 1}, frame(start=lambda x: np.exp(1j*x)), [0, 1], {}, TypeError, "real"),
    "few points": ({"u_xx": 1}, frame(7), [0, 1], {}, ValueError, "at least 8"),
    "not uniform": ({"u_xx": 1}, frame().assign_coords(x=frame().x**2), [0, 1], {}, ValueError, "not uniform"),
    "no coordinate": ({"u_xx": 1}, frame().drop_vars("x"), [0, 1], {}, ValueError, "coordinate"),
    "partial axes": ({"u_xx": 1}, frame().assign(v=("y", np.zeros(9))), [0, 1], {}, ValueError, "axes"),
    "no unknowns": ({"u_xx": 1}, frame().drop_vars("u"), [0, 1], {}, ValueError, "no variables"),
    "strange axis": ({"u_xx": 1}, frame().rename(x="s"), [0, 1], {}, ValueError, "axes"),
    "not a dataset": ({"u_xx": 1}, np.ones(16), [0, 1], {}, TypeError, "Dataset"),
    "time backwards": ({"u_xx": 1}, frame(), [1, 0], {}, ValueError, "not sorted"),
    "time repeated": ({"u_xx": 1}, frame(), [0, 0, 1], {}, ValueError, "repeats"),
    "time uneven": ({"u_xx": 1}, frame(), [0, 1, 3], {}, ValueError, "not uniform"),
    "one time": ({"u_xx": 1}, frame(), [0], {}, ValueError, "two times"),
    "time nan": ({"u_xx": 1}, frame(), [0, np.nan], {}, ValueError, "finite"),
    "time text": ({"u_xx": 1}, frame(), "abc", {}, ValueError, "`t` has shape"),
    "times of texts": ({"u_xx": 1}, frame(), ["a", "b"], {}, TypeError, "`t` holds"),
    "times ragged": ({"u_xx": 1}, frame(), [[0], [1, 2]], {}, ValueError, "`t` cannot"),
    "steps": ({"u_xx": 1}, frame(), [0, 1], {"steps": 1.5}, ValueError, "`steps`"),
    "tolerance": ({"u_xx": 1}, frame(), [0, 1], {"tolerance": -1}, ValueError, "`tolerance`"),
    "tolerance text": ({"u_xx": 1}, frame(), [0, 1], {"tolerance": "a"}, TypeError, "`tolerance`"),
}


def test_frames_that_can_be_mended_are_mended():
    plain = simulate({"u_xx": 1}, frame(), [0, 1])
    reversed_frame = frame().isel(x=slice(None, None, -1))
    with pytest.warns(UbicWarning, match="descends"): out = simulate({"u_xx": 1}, reversed_frame, [0, 1])
    assert out.identical(plain)
    with pytest.warns(UbicWarning, match="negligible"): out = simulate({"u_xx": 1}, frame() + 1e-15j, [0, 1])
    assert out.identical(plain)


@pytest.mark.parametrize("case", bad)
def test_bad_input_gets_one_sentence(case):
    pde, initial, t, options, kind, text = bad[case]
    with pytest.raises(kind, match=text) as caught: simulate(pde, initial, t, **options)
    assert "\n" not in str(caught.value)
