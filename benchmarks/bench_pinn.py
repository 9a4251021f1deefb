"""One training step of a physics-informed network with a fourth derivative, beside nested differentiation, in one run.  usage: python -m benchmarks.bench_pinn"""
import time

import pandas as pd
import torch
from threadpoolctl import threadpool_limits

from benchmarks.bench_core import row
from ubic import jets

WIDTHS = (2, 5, 5, 5, 5, 1)
WORDS = ["", "x", "xx", "xxxx", "t"]


def loss(u):
    "The physics of Kuramoto-Sivashinsky, and a data loss."
    return ((u["t"] + u["xx"] + u["xxxx"] + u[""] * u["x"])**2).mean() + (u[""]**2).mean()


def timed(function, repeats):
    "Seconds of the fastest call, and what the last one returned."
    function()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def step(points, dtype):
    "Loss and gradient with respect to all weights, by jets and by nested differentiation."
    theta, plan = jets.draw_weights(WIDTHS, 0, dtype).requires_grad_(), jets.plan(WORDS)
    inputs = 2 * torch.rand(2, points, generator=torch.Generator().manual_seed(0), dtype=dtype) - 1
    ours_s, ours = timed(lambda: torch.autograd.grad(loss(jets.derivatives(theta, inputs, WIDTHS, plan)), theta)[0], 9)
    peer_s, peer = timed(lambda: torch.autograd.grad(loss(jets.nested_derivatives(theta, inputs, WIDTHS, WORDS)), theta)[0], 3)
    apart = float((ours - peer).abs().max() / peer.abs().max())
    name = str(dtype).removeprefix("torch.")
    return row(f"step of a network with u_xxxx, {points} points, {name} / nested differentiation in torch", ours_s, peer_s, f"gradients within {apart:.1e}")


@threadpool_limits.wrap(limits=1, user_api="blas")
def main(quick=True) -> pd.DataFrame:
    "Seconds of one step, loss and gradient, on one thread."
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try: return pd.DataFrame([step(points, dtype) for points in ((6579,) if quick else (6579, 64638)) for dtype in (torch.float32, torch.float64)])
    finally: torch.set_num_threads(threads)


if __name__ == "__main__": print(main(quick=False).to_string(index=False, float_format=lambda value: f"{value:.3g}"))
