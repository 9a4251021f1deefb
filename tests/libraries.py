"Fields that libraries are made from: published ones with 30 % noise, and noise alone on any grid."
import warnings

import numpy as np
import pytest

from ubic import datasets
from ubic.field import add_noise, as_field


@pytest.fixture(scope="module")
def noisy():
    "Burgers and KdV in 30 % noise, by their names."
    return {name: add_noise(getattr(datasets, name)(), 30, seed=0) for name in ("burgers", "kdv")}


def white_noise(shape, dims, names="uv", seed=0, dtype=float):
    "White noise on a grid with different steps along all axes."
    rng = np.random.default_rng(seed)
    axes = {dim: np.linspace(0, 1 + i, n) for i, (dim, n) in enumerate(zip(dims, shape))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore") # noise looks rough, and is
        return as_field({name: rng.standard_normal(shape).astype(dtype) for name in names}, dims=tuple(dims), **axes)
