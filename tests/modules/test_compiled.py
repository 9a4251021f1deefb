"""The compiled loops are the Python that is printed: a process that runs them as such gets the same numbers."""
import os
import subprocess
import sys

import numpy as np
import pytest


def system(p, n=60, copies=0, noise=1.0):
    "Three terms and noise behind a target; the last columns may be combinations of others."
    from ubic import LinearSystem
    rng = np.random.default_rng(p)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    for k in range(copies): X[:, -1 - k] = X[:, k] - 2*X[:, k + 1]
    return LinearSystem(X, X[:, :3] @ [1, -2, 3] + noise*rng.standard_normal(n))


def field(**sizes):
    "A smooth wave over the given axes, and noise."
    from ubic import as_field
    axes = {dim: np.linspace(0, 1, size) for dim, size in sizes.items()}
    phases = np.meshgrid(*axes.values(), indexing="ij")
    waves = np.sin(2*np.pi*sum(phases)) + 0.01*np.random.default_rng(0).standard_normal(tuple(sizes.values()))
    return as_field(waves, **axes)


def paths(*found):
    numbers = [np.concatenate([path.rss, *path.coef]) for path in found]
    return numbers + [np.concatenate(path.supports) for path in found]


def subsets():
    from ubic import best_subsets
    return paths(*(best_subsets(system(7), solver=solver) for solver in ("exact", "greedy", "frols", "l0bnb")))


def dependent():
    from ubic import best_subsets
    return paths(*(best_subsets(system(7, copies=2), 4, solver) for solver in ("exact", "greedy", "frols")))


def many():
    from ubic import best_subsets
    return paths(best_subsets(system(21, noise=30.0), 4))


def differences():
    from ubic import library
    u = np.random.default_rng(1).standard_normal((5, 20, 3))
    return [library.difference(u, 0.1, d, 1, accuracy) for d, accuracy in ((1, 2), (2, 4), (3, 6))]


def boxes():
    from ubic import library
    settings = dict(form="pysindy", rows=40, half_width=0.2)
    made = [library.weak(one, **settings) for one in (field(x=24, t=20), field(x=10, y=11, t=9))]
    return [part for one in made for part in (np.abs(one.R), one.unit @ one.unit.T)]


def planes():
    from ubic import denoise
    return [denoise.savgol2d(field(x=9, y=8, t=6), window=5)["u"].values]


def patches():
    from ubic import denoise
    settings = dict(patch=4, atoms=6, iterations=2)
    cases = (dict(sparsity=1, transform_sparsity=None), dict(sparsity=2, transform_sparsity=3))
    return [denoise.ksvd(field(x=16, t=18), **settings, **case)["u"].values for case in cases]


def pursuit():
    from ubic import denoise
    rng = np.random.default_rng(2)
    atoms = np.concatenate([rng.standard_normal((8, 5)), np.zeros((8, 1))], axis=1)
    signals = np.concatenate([rng.standard_normal((4, 8)), 2*atoms[:, :1].T])
    return [denoise.omp_code(atoms, signals, 4), denoise.omp_code(atoms, signals, 4, least_gain=1.0)]


def horseshoe():
    from ubic import sampling, shrinkage
    like = sampling.likelihood(system(4), "paper")
    prior = dict(shrinkage=0.1, slab_df=4.0, slab_scale=2.0)
    points = np.random.default_rng(3).standard_normal((3, 7))
    densities = (shrinkage.horseshoe_density(x, like, prior) for x in points)
    return [np.append(slope, value) for value, slope in densities]


def networks():
    import torch
    from ubic import jets
    widths, plan = (2, 3, 2, 1), jets.plan(["", "xxxxx", "xxt", "tt"])
    theta = (1.3*jets.draw_weights(widths, seed=3)).requires_grad_()
    points = 2*torch.rand(2, 130, generator=torch.Generator().manual_seed(0), dtype=torch.float64) - 1
    rows = jets.jets(theta, points, widths, plan)
    (rows**2).mean().backward()
    return [rows.detach().numpy(), theta.grad.numpy()]


LOOPS = (subsets, dependent, many, differences, boxes, planes, patches, pursuit, horseshoe, networks)
CASES = {case.__name__: case for case in LOOPS}
NEEDS = {"horseshoe": "nutpie", "networks": "torch"}


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
@pytest.mark.parametrize("name", CASES)
def test_plain_python_gives_the_same(name, tmp_path):
    if name in NEEDS: pytest.importorskip(NEEDS[name])
    command = [sys.executable, __file__, name, str(tmp_path / "plain.npz")]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "TQDM_DISABLE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    compiled, plain = CASES[name](), list(np.load(tmp_path / "plain.npz").values())
    for ours, theirs in zip(compiled, plain, strict=True):
        assert np.allclose(ours, theirs, rtol=1e-8, atol=1e-10*np.abs(ours).max())


if __name__ == "__main__":
    import numba
    assert numba.config.DISABLE_JIT
    np.savez(sys.argv[2], *CASES[sys.argv[1]]())
