"Noisy fields whose clean values are known: the published ones, and a small one."
import numpy as np
import xarray as xr


def published_noisy(folder, name, percent=30):
    "Clean and noisy field as in the paper, by the legacy generator, seed 0."
    with np.load(folder / f"{name}_clean.npz") as file: u, x, t = file["u"], file["x"], file["t"]
    noise = percent / 100 * u.std() * np.random.RandomState(0).randn(*u.shape)
    return u, xr.Dataset({"u": (("x", "t"), u + noise)}, {"x": x, "t": t}, {"title": name})


def published_denoised(folder, name):
    "The values that the authors denoised."
    with np.load(folder / f"{name}_denoised_authors.npz") as file: return file["u"]


def relative_error(ds, u):
    "How far a field is from its clean values, as a share of these."
    return np.linalg.norm(ds.u.values - u) / np.linalg.norm(u)


def toy(nx=60, nt=40, noise=0.3, seed=0):
    "Two waves and noise."
    x, t = np.linspace(0, 2 * np.pi, nx, endpoint=False), np.linspace(0, 3, nt)
    u = np.sin(x[:, None] - t) + 0.5 * np.sin(2 * x)[:, None] * np.cos(t)
    u = u + noise * np.random.default_rng(seed).standard_normal(u.shape)
    return xr.Dataset({"u": (("x", "t"), u)}, {"x": x, "t": t}, {"title": "toy"})
