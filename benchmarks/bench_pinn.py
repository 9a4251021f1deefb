"""One training step of a physics-informed network with a fourth derivative, beside nested differentiation."""
from functools import partial

from benchmarks.harness import apart, compare

WIDTHS = (2, 5, 5, 5, 5, 1)
WORDS = ["", "x", "xx", "xxxx", "t"]


def loss(u):
    "The physics of Kuramoto–Sivashinsky, and a data loss."
    return ((u["t"] + u["xx"] + u["xxxx"] + u[""]*u["x"])**2).mean() + (u[""]**2).mean()


def step(points, precision):
    "Loss and gradient with respect to all weights, by jets and by nested differentiation, on one thread."
    import torch
    from ubic import jets
    torch.set_num_threads(1)
    dtype = getattr(torch, precision)
    theta, plan = jets.draw_weights(WIDTHS, 0, dtype).requires_grad_(), jets.plan(WORDS)
    inputs = 2*torch.rand(2, points, generator=torch.Generator().manual_seed(0), dtype=dtype) - 1
    def gradient(derivatives): return torch.autograd.grad(loss(derivatives()), theta)[0].numpy()
    def ours(): return gradient(lambda: jets.derivatives(theta, inputs, WIDTHS, plan))
    def nested(): return gradient(lambda: jets.nested_derivatives(theta, inputs, WIDTHS, WORDS))
    def agreement(mine, other): return f"gradients within {apart(mine, other):.0e}"
    task = f"step of a network with u_xxxx, {points} points, {precision}"
    return compare(task, "nested differentiation in PyTorch", ours, nested, agreement)


def jobs(full):
    for points in (6579, 64638) if full else (6579,):
        for precision in ("float32", "float64"): yield partial(step, points, precision)
