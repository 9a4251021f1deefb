"Explorer: its sliders, its maps, and what happens when something is missing."
from dataclasses import replace

import matplotlib
import numpy as np
import pytest

import ubic
from discovered import found, paper
from ubic.choice.traces import Trace
from ubic.growth import Growth
from ubic.pipeline import Discovery
from ubic.report import to_html
from ubic.widgets import Explorer, explore

matplotlib.use("Agg")


def test_sliders_follow_each_other(paper):
    explorer = explore(paper, live=True)
    page = explorer.controls.children[-1]
    before = page.value
    explorer.sliders["tau0"].value = 1e-4
    assert explorer.sliders["lam"].value == 0 and page.value != before
    assert explorer.sliders["size"].value == explorer.view.size > paper.size
    explorer.sliders["lam"].value = explorer.largest
    assert explorer.sliders["size"].value == explorer.view.size == paper.size
    assert explorer.view.tau0 == pytest.approx(1e-4)
    for size in map(int, paper.path.sizes):
        explorer.sliders["size"].value = size
        assert explorer.view.terms == paper.path.terms(size - 1) and explorer.view.equation.latex in page.value
    explorer.sliders["tau0"].value = paper.tau0
    assert explorer.view.support == paper.support and explorer.view.lam == paper.lam


def test_what_was_measured_belongs_to_the_choice(found):
    trace = Trace(ubic.Term.parse("u_xxxx"), 2e-5, 0.0012)
    chosen = replace(found["u"], traces=(trace,), doubts=("a doubt",))
    explorer = Explorer(chosen)
    def pictures(): return explorer._repr_mimebundle_()["text/html"].count("<img")
    assert pictures() == 2 and str(trace) in repr(explorer)
    explorer.at_size(1)
    assert pictures() == 1 and str(trace) not in repr(explorer)
    assert explorer.view.standing is explorer.view.left_out is None and explorer.view.doubts == ()
    assert explorer.at_size(2).view.standing is chosen.standing


def test_families_that_joined_are_drawn(found):
    step = found.growth["u"].steps[0]
    grown = Discovery(found.selections, found.field, found.used, growth={"u": Growth([step, step])})
    def pictures(one): return explore(one, live=False)._repr_mimebundle_()["text/html"].count("<img")
    assert pictures(grown) == pictures(found) + 1


def test_slider_of_a_penalty_that_does_not_exist(paper):
    none = replace(paper, lam=-np.inf, trace=[{**paper.trace[0], "lam": -np.inf}])
    explorer = explore(none, live=True)
    assert explorer.sliders["lam"].disabled
    explorer.sliders["tau0"].value = 0.1
    assert explorer.view.lam == -np.inf


def test_map_shows_what_is_missing(found):
    explorer = explore(found)
    left = {size: explorer.maps(explorer.at_size(size).view) for size in (1, 2)}
    assert (left[1]**2).mean() > 4*(left[2]**2).mean() and set(left[1].dims) == {"x", "t"}
    assert len(explorer.plot()) == 3 and len(explore(found["u"]).plot()) == 1


def test_map_of_a_plane(found):
    x = np.linspace(0, 2*np.pi, 64, endpoint=False)
    t = np.linspace(0, 1, 40)
    def mode(a, b): return np.exp(-0.1*(a*a + b*b)*t)*np.sin(a*x[:, None, None] + b*x[None, :, None] + a)
    u = mode(1, 2) + mode(2, 1) + mode(3, -1) + mode(1, 3)
    field = ubic.as_field(u, dims=("x", "y", "t"), x=x, y=x, t=t)
    heat = ubic.discover(field, derivative_order=2, power=1)
    explorer = explore(heat)
    residual = explorer.maps(explorer.view)
    assert set(map(str, heat["u"].terms)) == {"u_xx", "u_yy"}
    assert float(np.abs(residual).max()) < 0.05 and residual.dims == ("x", "y")
    assert len(explorer.plot()) == 3 and "as measured" in to_html(heat)


def test_still_picture_without_front_end(found, monkeypatch):
    shown = explore(found["u"])._repr_mimebundle_()
    assert "<img" in shown["text/html"] and "application/vnd.jupyter.widget-view+json" not in shown
    monkeypatch.setattr("ubic.telling.widgets.has_front_end", lambda: True)
    assert "application/vnd.jupyter.widget-view+json" in explore(found["u"])._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" not in explore(found["u"], live=False)._repr_mimebundle_()


def test_without_ipywidgets(found, monkeypatch):
    def missing(name): raise ImportError(name)
    monkeypatch.setattr("ubic.ground.runtime.import_module", missing)
    monkeypatch.setattr("ubic.telling.widgets.has_front_end", lambda: True)
    shown = explore(found["u"])._repr_mimebundle_()
    assert "<img" in shown["text/html"] and "ubic[widgets]" in shown["text/html"]
    with pytest.raises(ImportError, match=r"ubic\[widgets\]"): explore(found["u"], live=True)


def test_explorer_refuses_what_it_cannot_show(found, paper):
    for wrong, error in ((found.field, TypeError), (None, TypeError), (paper.path, TypeError)):
        with pytest.raises(error, match="`found` must be"): explore(wrong)
    with pytest.raises(ValueError, match="`target` must be one of u"): explore(found, "w")
    for one in (found, found["u"]):
        sentence = "^`target` is a Dataset; give the name of an unknown of a Discovery, or leave it out.$"
        with pytest.raises(TypeError, match=sentence): explore(one, found.field)
    for tau0 in (0, -1, np.nan):
        with pytest.raises(ValueError, match="`tau0`"): Explorer(paper).at_threshold(tau0)
