"Traces of a grid: a scheme that left one is recognized, and small true terms stay in the equation."
import numpy as np
import pytest
import xarray as xr

import ubic
from equality import assert_same
from ubic.choice.refit import Refitter
from ubic.choice.traces import core_of, grid_test, left_in_space, left_in_time, shares_of, traces_of
from ubic.data.survey import Survey
from ubic.terms import parse_term
from ubic.weakform.library import chosen_box

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")

UXX, UXXXX = parse_term("u_xx"), parse_term("u_xxxx")


def diffused(dt=0.01, c=0.1, points=100, frames=201):
    "Diffusion by forward steps in time and second-order differences in space, on a ring of length 10."
    x = np.arange(points)*10/points
    u = np.sin(2*np.pi*x/10) + 0.5*np.cos(6*np.pi*x/10) + 0.3*np.sin(np.pi*x + 1)
    frames_of_u = [u]
    for _ in range(frames - 1):
        u = u + dt*c*(np.roll(u, -1) - 2*u + np.roll(u, 1))/x[1]**2
        frames_of_u.append(u)
    return ubic.as_field(np.stack(frames_of_u, axis=1), x=x, t=dt*np.arange(frames))


@pytest.fixture(scope="module")
def found(): return ubic.discover(diffused())


def test_the_trace_of_a_scheme_stands_beside_the_equation(found):
    chosen = found["u"]
    assert list(map(str, chosen.terms)) == ["u_xx"] and chosen.coef[0] == pytest.approx(0.1, rel=1e-3)
    trace, = chosen.traces
    assert trace.term == UXXXX and "differences in space" in trace.origin and trace.share < 0.005
    assert trace.coef == pytest.approx(0.1*0.1**2/12 - 0.01/2*0.1**2, rel=0.05) # the modified equation
    assert "u_xxxx" in str(found) and "u_xxxx" not in found.pde()["u"]


def test_an_equation_beside_a_trace_is_sure_up_to_the_trace(found):
    assert abs(found["u"].coef[0] - 0.1) < 3*found["u"].std[0] < 3*2*found["u"].traces[0].share*0.1


def test_traces_and_growth_are_kept_in_files(found, tmp_path):
    again = ubic.load_result(found.save(tmp_path/"found.npz"))
    assert_same(found, again)
    assert again["u"].traces == found["u"].traces and again["u"].verdict.reasons == found["u"].verdict.reasons
    alone = ubic.load_result(found["u"].save(tmp_path/"chosen.npz"))
    assert_same(found["u"], alone)


def test_a_small_true_term_stays():
    "Zabusky and Kruskal's start: dispersion of 0.0025 is all that keeps the wave from breaking."
    x, t = np.arange(128)/64, np.linspace(0, 0.8, 161)
    start = xr.Dataset({"u": ("x", np.cos(np.pi*x))}, {"x": x})
    truth = {"u*u_x": -1.0, "u_xxx": -0.0025}
    for noise in (0, 1):
        field = ubic.simulate({"u": truth}, start, t)
        chosen = ubic.discover(ubic.add_noise(field, noise, seed=0) if noise else field)["u"]
        pde = chosen.pde()["u"]
        assert pde.keys() == truth.keys() and not any(trace.origin for trace in chosen.traces)
        for term, c in truth.items(): assert pde[term] == pytest.approx(c, rel=0.02)


# --- by hand ----------------------------------------------------------------------------------------------------------

def refitter(field, terms): return Refitter(field, "u", chosen_box(Survey(field), terms, None, None))


def test_a_term_is_a_trace_only_if_it_is_small_and_the_grid_could_leave_it():
    boxes = refitter(diffused(), [UXXXX])
    assert core_of(boxes, [UXX, UXXXX], [0.1, 3e-5]) == [UXX]
    assert core_of(boxes, [UXX, UXXXX], [0.1, 0.01]) == [UXX, UXXXX] # it contributes too much
    assert core_of(boxes, [UXX], [0.1]) == [UXX] and core_of(boxes, [UXXXX], [1e-9]) == [UXXXX] # nothing else is there
    large, small = shares_of(boxes, [UXX, UXXXX], [0.1, 3e-5])
    assert large == pytest.approx(1, abs=0.01) and small < 0.005


def test_a_scheme_is_named_only_if_it_accounts_for_the_trace():
    boxes = refitter(diffused(), [UXXXX])
    right, wrong = 0.1*0.01/12 - 0.005*0.01, -0.1*0.01/12
    for coef, named in ((right, True), (wrong, False)):
        trace, = traces_of(boxes, [UXX, UXXXX], [0.1, coef])
        assert bool(trace.origin) == named and "u_xxxx" in str(trace)


def test_what_differences_leave():
    steps = {"x": 0.1, "t": 0.01}
    assert left_in_space([UXX], [2.0], steps) == {UXXXX: pytest.approx(2*0.01/12)}
    schemes = left_in_time(parse_term("u_t"), [UXX], [2.0], 0.01)
    assert schemes["forward steps in time"] == {UXXXX: pytest.approx(-0.005*4)}
    assert left_in_time(parse_term("u_tt"), [UXX], [2.0], 0.01) == {
        "leapfrog in time": {UXXXX: pytest.approx(-0.01**2/12*4)}
    }
    assert left_in_time(parse_term("u_t"), [parse_term("u*u_x")], [1.0], 0.01) == {} # not linear


def test_only_our_own_grid_gets_worse_on_every_second_point():
    field = diffused()
    box = chosen_box(Survey(field), [UXXXX], None, None)
    assert not grid_test(field, "u", [UXX], [0.1], box=box).only_grid # the trace is missing on both
    burgers = ubic.datasets.burgers()
    terms = [UXX, parse_term("u*u_x")]
    around = chosen_box(Survey(burgers), terms, None, None)
    assert grid_test(burgers, "u", terms, [0.1, -1.0], box=around).only_grid
