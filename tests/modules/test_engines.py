"Dedalus as a second opinion: text of the equations everywhere, runs where it is installed."
import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import xarray as xr

from ubic import datasets, simulate
from ubic.engines import dedalus_equation, dedalus_run
from ubic.field import true_pde
from ubic.terms import parse_term

needs_dedalus = pytest.mark.skipif(not find_spec("dedalus"), reason="this needs ubic[dedalus]")


def circle(function=np.sin, n=64):
    x = 2*np.pi*np.arange(n)/n
    return xr.Dataset({"u": ("x", function(x))}, {"x": x})


def relative(a, b): return float(np.linalg.norm(a - b)/np.linalg.norm(b))


@pytest.mark.parametrize("terms, sides", [
    ({"u_xx": 0.5}, ("dt(u) + (-0.5)*dx(dx(u))", "0")),
    ({"u": 2.0, "1": 3.0}, ("dt(u) + (-2.0)*u", "(3.0)*one")),
    ({"u*u_x": -1.0}, ("dt(u)", "(-0.5)*dx(u*u)")),
    ({"(u^2)_xx": 1.0}, ("dt(u)", "(1.0)*dx(dx(u*u))")),
    ({"u*u_xx": 1.0}, ("dt(u)", "(1.0)*u*dx(dx(u))")),
    ({"v": 1.0, "v*u_y": -2.0}, ("dt(u)", "(1.0)*v + (-2.0)*v*dy(u)")),
])
def test_equations_as_text(terms, sides):
    assert dedalus_equation("u", {parse_term(term): c for term, c in terms.items()}) == sides


@needs_dedalus
@pytest.mark.parametrize("name, frames, bound", [("burgers", 21, 1e-6), ("kdv", 21, 1e-6), ("ks", 11, 1e-6)])
def test_both_solvers_agree(name, frames, bound):
    field = getattr(datasets, name)()
    pde, start, t = true_pde(field), field.isel(t=0), field.t.values[:frames]
    theirs, ours = dedalus_run(pde, start, t), simulate(pde, start, t)
    assert theirs.u.dims == ours.u.dims and theirs.u.shape == ours.u.shape and theirs.attrs == ours.attrs == {}
    assert relative(theirs.u, ours.u) < bound


@needs_dedalus
def test_several_unknowns_axes_and_constants():
    x, y = 2*np.pi*np.arange(32)/32, 2*np.pi*np.arange(24)/24
    u, v = np.sin(x)[:, None]*np.cos(y), 0.1*np.cos(x)[:, None] + 0*y
    start = xr.Dataset({"u": (("x", "y"), u), "v": (("x", "y"), v)}, {"x": x, "y": y})
    pde = {"u": {"u_xx": 0.1, "u_yy": 0.1, "v": 1, "1": 0.2}, "v": {"u": -1, "u*v_x": 0.1, "v_xy": 0.1}}
    theirs = dedalus_run(pde, start, [0, 0.5, 1], timestep=0.01)
    ours = simulate(pde, start, [0, 0.5, 1])
    for name in "uv": assert relative(theirs[name], ours[name]) < 1e-5


@needs_dedalus
def test_a_blow_up_is_a_result():
    field = dedalus_run({"u^2": 1}, circle(np.ones_like, 8), np.linspace(0, 2, 8))
    assert 0.9 < field.attrs["diverged_at"] < 1.2
    assert np.isnan(field.u[:, 4:]).all() and np.isfinite(field.u[:, :4]).all()


@needs_dedalus
def test_the_time_step_divides_the_interval():
    field = dedalus_run({"u_xx": 0.5}, circle(lambda x: np.sin(3*x)), [0, 0.5, 1], timestep=0.003)
    assert np.allclose(field.u[:, -1], np.exp(-4.5)*np.sin(3*field.x), atol=1e-6)


@needs_dedalus
def test_runs_are_silent(capfd):
    dedalus_run({"u_xx": 0.5}, circle(), [0, 0.1])
    assert "INFO" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("call, message", [
    (lambda: dedalus_run({"u_xx": 1}, circle(n=33), [0, 1]), "even number"),
    (lambda: dedalus_run({"u_xx": 1}, circle(), [0, 1], timestep=-1), "`timestep`"),
    (lambda: dedalus_run({"u_yy": 1}, circle(), [0, 1]), "no axis y"),
    (lambda: dedalus_run({"u_xx": 1}, circle().where(circle().x > 1), [0, 1]), "not finite"),
    (lambda: dedalus_run({"u_xx": 1}, circle(), [0, 2, 3]), "`t`"),
])
def test_bad_input(call, message):
    with pytest.raises((ValueError, TypeError), match=message): call()


class StandIn(ModuleType):
    "What `dedalus_run` asks of Dedalus, with a solver that multiplies all fields by the same factor in each step."
    RK443 = "RK443"

    def __init__(self, growth):
        super().__init__("dedalus.public")
        self.growth, self.bases, self.fields, self.equations, self.steps = growth, [], {}, [], []

    def CartesianCoordinates(self, *dims): return dict(zip(dims, dims))

    def RealFourier(self, coord, **settings):
        self.bases.append({"coord": coord} | settings)
        return self.bases[-1]

    def Distributor(self, coords, dtype): return SimpleNamespace(Field=self.field)

    def Differentiate(self, field, coord):
        raise AssertionError("Dedalus calls this, when it reads the text of an equation")

    def IVP(self, fields, namespace):
        self.known = set(namespace)
        return SimpleNamespace(add_equation=self.equations.append, build_solver=self.solver)

    def solver(self, scheme):
        assert scheme == self.RK443
        return SimpleNamespace(step=self.step)

    def field(self, name, bases):
        class Field(dict):
            def change_scales(self, scale): assert scale == 1
            def __getitem__(self, space): return super().__getitem__("g")
        self.fields[name] = Field()
        return self.fields[name]

    def step(self, step):
        self.steps.append(step)
        for name, field in self.fields.items():
            if name != "one": field["g"] = field["g"]*self.growth**step


@pytest.fixture
def stand_in(monkeypatch):
    def make(growth):
        made = StandIn(growth)
        package = ModuleType("dedalus")
        package.public = made
        monkeypatch.setitem(sys.modules, "dedalus", package)
        monkeypatch.setitem(sys.modules, "dedalus.public", made)
        return made
    return make


def test_dedalus_is_told_the_circle_the_start_and_the_equation(stand_in):
    told, x = stand_in(0.5), 3 + np.arange(16)/8
    start = xr.Dataset({"u": ("x", np.sin(np.pi*x))}, {"x": x})
    found = dedalus_run({"u": -0.7, "u*u_x": 1, "1": 2}, start, [0, 1, 2], timestep=0.3)
    assert told.bases == [{"coord": "x", "size": 16, "bounds": (3.0, 5.0), "dealias": 3/2}]
    assert told.known == {"u", "one", "dx"}
    assert told.equations == ["dt(u) + (0.7)*u = (0.5)*dx(u*u) + (2.0)*one"]
    assert np.allclose(told.steps, 0.25) and len(told.steps) == 8 # the largest step that divides the interval
    assert np.allclose(found.u, np.sin(np.pi*x)[:, None]*[1, 0.5, 0.25])
    assert found.attrs == {} and list(found.t) == [0, 1, 2]


def test_the_step_is_at_most_a_tenth_of_the_interval_and_short_for_fast_waves(stand_in):
    for height, most in ((0.01, 0.01), (100.0, 0.2*2*np.pi/64/100)):
        told = stand_in(1.0)
        dedalus_run({"u*u_x": -1}, circle(lambda x: height*np.cos(x)), [0, 0.1])
        assert 0.9*most < told.steps[0] <= most*(1 + 1e-9)


def test_a_solution_that_grows_without_bound_ends_at_its_time(stand_in):
    told = stand_in(1e9)
    found = dedalus_run({"u": 1}, circle(n=8), [0, 1, 2, 3], timestep=0.5)
    lost = found.attrs["diverged_at"]
    assert lost == pytest.approx(sum(told.steps)) and lost < 3
    for t in (0, 1, 2, 3): assert bool(np.isfinite(found.u.sel(t=t)).all()) == (t < lost)


def test_dedalus_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "dedalus", None)
    monkeypatch.setitem(sys.modules, "dedalus.public", None)
    with pytest.raises(ImportError, match=r'ubic\[dedalus\]'): dedalus_run({"u_xx": 1}, circle(), [0, 1])
