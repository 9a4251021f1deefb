"Derivatives by jets equal nested differentiation, compiled and plain, for many shapes of networks."
import os
import subprocess
import sys
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from ubic import jets


def cloud(inputs, count=300, seed=0):
    return 2 * torch.rand(inputs, count, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) - 1


def relative(ours, theirs):
    return float((ours - theirs).detach().abs().max() / theirs.detach().abs().max())


def gradient(values, theta):
    return torch.autograd.grad(sum((value**2).mean() + value.mean() for value in values), theta)[0]


CASES = [
    ((2, 5, 5, 5, 5, 1), "xt", ["", "x", "xx", "xxx", "xxxx", "t", "tt"]),
    ((2, 3, 1), "xt", ["xxxxxx", "ttt"]),
    ((2, 3, 1), "xt", [""]),
    ((2, 6, 2, 7, 1), "xt", ["xt", "xxt", "xxxx"]),
    ((3, 5, 4, 1), "xyt", ["", "xy", "xxy", "xxyy", "yt", "t"]),
    ((4, 4, 1), "xyzt", ["xyz", "zz"]),
]


@pytest.mark.parametrize("widths, axes, words", CASES, ids=lambda case: "-".join(map(str, case)))
@pytest.mark.parametrize("way", [jets.jets, jets.plain_jets])
def test_derivatives_and_gradients_equal_nested_autograd(widths, axes, words, way, monkeypatch):
    theta = (1.3 * jets.draw_weights(widths, seed=3)).requires_grad_()
    points = cloud(len(axes), 150 if len(widths) < 6 else 300)
    monkeypatch.setattr(jets, "jets", way)
    ours = jets.derivatives(theta, points, widths, jets.plan(words, axes))
    theirs = jets.nested_derivatives(theta, points, widths, words, axes)
    assert {word: relative(ours[word][0], theirs[word]) < 1e-10 for word in words} == dict.fromkeys(words, True)
    assert relative(gradient(ours.values(), theta), gradient(theirs.values(), theta)) < 1e-10


def test_scaled_inputs_gain_a_factor_per_letter():
    widths, theta, points = (2, 5, 1), jets.draw_weights((2, 5, 1), 0), cloud(2)
    plan = jets.plan(["", "xxx", "xt"])
    plain = jets.derivatives(theta, points, widths, plan)
    scaled = jets.derivatives(theta, points, widths, plan, {"x": 2.0, "t": 0.5})
    assert torch.equal(scaled[""], plain[""]) and torch.allclose(scaled["xxx"], 8 * plain["xxx"])
    assert torch.allclose(scaled["xt"], plain["xt"])


@pytest.mark.parametrize("count", [1, 127, 128, 129, 1000])
def test_every_number_of_points(count):
    widths, theta, points = (2, 4, 3, 2), jets.draw_weights((2, 4, 3, 2), 0).requires_grad_(), cloud(2, count)
    plan = jets.plan(["xx", "t"])
    ours, plain = jets.jets(theta, points, widths, plan), jets.plain_jets(theta, points, widths, plan)
    assert relative(ours, plain) < 1e-13
    assert relative(gradient([ours], theta), gradient([plain], theta)) < 1e-13


def test_single_precision_stays_single_and_accurate():
    widths, plan = (2, 5, 5, 5, 5, 1), jets.plan(["xxxx", "t"])
    theta = jets.draw_weights(widths, 0, torch.float64)
    ours = jets.jets(theta.float(), cloud(2).float(), widths, plan)
    assert ours.dtype == torch.float32
    assert relative(ours.double(), jets.jets(theta, cloud(2), widths, plan)) < 1e-5


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_not_hidden(bad):
    widths, plan = (2, 5, 1), jets.plan(["x"])
    theta = jets.draw_weights(widths, 0)
    theta[0] = bad
    assert not torch.isfinite(jets.jets(theta, cloud(2), widths, plan)).all()


def test_weights_come_from_the_seed_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first = jets.draw_weights((2, 5, 1), 7)
    torch.manual_seed(6)
    assert torch.equal(first, jets.draw_weights((2, 5, 1), 7))
    assert not torch.equal(first, jets.draw_weights((2, 5, 1), 8))
    torch.random.set_rng_state(before)
    jets.draw_weights((2, 5, 1), 7)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_same_bits_freshly_compiled_and_from_the_cache(tmp_path):
    code = """
import torch
from ubic import jets
widths = (2, 5, 5, 1)
theta = jets.draw_weights(widths, 0, torch.float32).requires_grad_()
points = 2*torch.rand(2, 500, generator=torch.Generator().manual_seed(0)) - 1
u = jets.derivatives(theta, points, widths, jets.plan(["", "xxx", "t"]))
loss = ((u["t"] + u[""]*u["xxx"])**2).mean()
loss.backward()
print(loss.item().hex(), *(value.hex() for value in theta.grad.tolist()))
"""
    command, env = [sys.executable, "-c", code], os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    def run(): return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    runs = [run(), run()]
    assert runs[0] == runs[1] and any(tmp_path.rglob("*.nbi"))
