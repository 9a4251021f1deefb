"What a network is asked: equations, outputs, parts of the grid and layers, read and checked; none of it needs torch."
import subprocess
import sys

import numpy as np
import pytest
import xarray as xr

import ubic
from ubic.trial.problems import make_problem

X, T = np.linspace(0, 2*np.pi, 32, endpoint=False), np.linspace(0, 4, 21)


@pytest.fixture(scope="module")
def heat(): return ubic.simulate({"u_xx": 0.1}, xr.Dataset({"u": ("x", np.exp(np.cos(X) - 1))}, {"x": X}), T)


@pytest.mark.parametrize("pde, words", [
    ({"u_xx": 0.1}, {"", "t", "xx"}), ({"u_tt": {"u_xx": 1.0, "u_t": -0.1}}, {"", "t", "tt", "xx"}),
    ({"u": {"(u^2)_x": 0.5, "1": 1.0}}, {"", "t", "x"}),
])
def test_derivatives_are_those_that_occur(heat, pde, words):
    assert set(make_problem(pde, heat).words) == words


def test_known_field_is_an_output_without_equation(heat):
    problem = make_problem({"u": {"v*u_x": 1.0}}, heat.assign(v=2*heat.u))
    assert problem.names == ["u", "v"] and problem.widths[-1] == 2 and problem.start == [1.0]


def test_a_selection_brings_its_terms_and_coefficients():
    field = ubic.add_noise(ubic.datasets.burgers(), 10, seed=0)
    found = ubic.discover(field)
    problem = make_problem(found, field, layers=(3,))
    assert problem.start == pytest.approx(list(found["u"].coef))
    assert [str(term) for terms in problem.equations.values() for term in terms] == list(map(str, found["u"].terms))


def test_parts_are_chosen_by_slices_and_indices(heat):
    problem = make_problem({"u_xx": 0.1}, heat, {"t": slice(10)}, {"t": [-1], "x": np.arange(4)}, physics={"x": [0, 1]})
    train, validation = problem.parts["train"], problem.parts["validation"]
    assert problem.inputs(train).shape == (2, 32*10) and problem.inputs(validation).shape == (2, 4)
    assert np.array_equal(problem.values(validation)[0], heat.u.values[:4, -1])
    assert problem.inputs(problem.physics).shape == (2, 2*21)


def test_inputs_are_scaled_by_the_training_part(heat):
    problem = make_problem({"u_xx": 0.1}, heat, {"t": slice(11)}, {"t": slice(11, None)})
    assert np.ptp(problem.inputs(problem.parts["train"]), axis=1) == pytest.approx([2, 2])
    assert problem.inputs(problem.parts["validation"])[1].max() == pytest.approx(3)
    assert problem.scale["t"] == pytest.approx(2/T[10])


@pytest.mark.parametrize("change, said", [
    ({"pde": {"w_xx": 0.1}}, "`pde` is about"), ({"pde": {"u_yy": 0.1}}, "a derivative along y"),
    ({"pde": {"u_xx": {"u": 1.0}}}, "an equation for 'u_xx'"), ({"pde": {"u": {"u_tt": 1.0}}}, "explains u_t by u_tt"),
    ({"pde": {"u": {"u": 1.0}, "u_t": {"u_xx": 1.0}}}, "more than one equation for u"),
    ({"train": {"t": slice(1)}}, "`train` keeps 1 of 21"), ({"validation": {"t": []}}, "`validation` keeps 0 of 21"),
    ({"train": {"t": [70]}}, "does not choose among its 21"), ({"train": {"y": slice(3)}}, "`train` mentions"),
    ({"train": slice(3)}, "give a mapping"), ({"layers": 5}, "`layers` is 5"), ({"layers": ()}, "`layers` is empty"),
    ({"dtype": "float16"}, "`dtype` is 'float16'"),
])
def test_mistakes_are_told_before_a_training(heat, change, said):
    with pytest.raises(ValueError, match=said): make_problem(**{"pde": {"u_xx": 0.1}, "field": heat} | change)


def test_a_problem_needs_no_torch():
    code = "import sys, ubic.trial.problems; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
