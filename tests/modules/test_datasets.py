"""The generated fields against the published arrays and their own equations, and a cache that is interfered with."""
import json
import mmap
import multiprocessing
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
import xarray as xr

from ubic import datasets
from ubic.field import check_field, space_dims, spacing, true_pde
from ubic.ground.checks import UbicWarning
from ubic.ground.storage import fingerprint
from ubic.spectral import simulate_frames
from ubic.terms import evaluate, parse_term

BOUNDS = {"burgers": 1e-7, "kdv": 1e-7, "ks": 1e-8}
LARGE = {"navier_stokes": {"w": 4}, "reaction_diffusion": {"u": 7, "v": 7}, "gray_scott": {"u": 6, "v": 5}}
ERRORS = { # percent, small and paper
    "navier_stokes": (2, 1.5),
    "reaction_diffusion": (0.1, 0.1),
    "gray_scott": (0.1, 0.1),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path/"cache"))
    return tmp_path/"cache"


@pytest.fixture(scope="module")
def fields():
    return {name: getattr(datasets, name)(cache=False) for name in BOUNDS}


@pytest.fixture(scope="module")
def large():
    return {name: getattr(datasets, name)(size="small", cache=False) for name in LARGE}


@pytest.mark.parametrize("name", BOUNDS)
def test_published_arrays(name, fields, reference):
    with np.load(reference/f"{name}_clean.npz") as file: x, t, u = (file[key] for key in "xtu")
    field = fields[name]
    np.testing.assert_allclose(field.x, x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(field.t, t, rtol=0, atol=1e-12)
    assert np.linalg.norm(field.u - u)/np.linalg.norm(u) < BOUNDS[name]


def test_every_name_is_a_checked_field_with_its_equation(fields, large):
    assert set(datasets.names()) == {*fields, *large}
    for field in (fields | large).values():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert check_field(field).equals(field)
        assert true_pde(field) == json.loads(field.attrs["pde"])
        assert {"title", "equation", "reference"} <= set(field.attrs) and "diverged_at" not in field.attrs
    assert all(true_pde(field)["u"]["u*u_x"] == -1 for field in fields.values())
    assert {name: {u: len(terms) for u, terms in true_pde(field).items()} for name, field in large.items()} == LARGE


def slope(u, axis, order, step, periodic):
    "A derivative by Fourier transform, or by differences of fourth order whose two outermost points are wrong."
    if periodic:
        k = 2*np.pi*np.fft.fftfreq(u.shape[axis], step).reshape([-1 if i == axis else 1 for i in range(u.ndim)])
        return np.fft.ifft((1j*k)**order*np.fft.fft(u, axis=axis), axis=axis).real
    a, b, c, d = (np.roll(u, shift, axis) for shift in (2, 1, -1, -2))
    return (8*(c - b) - (d - a))/(12*step) if order == 1 else (16*(b + c) - 30*u - (a + d))/(12*step**2)


def coefficient_error(field, target, frames):
    "Mean error in percent of the true terms' coefficients, fitted to the time derivative at some frames."
    dims, truth, gram = list(space_dims(field)), true_pde(field)[target], 0.0
    periodic = field.attrs["title"] != "Navier–Stokes"
    inside = (slice(None) if periodic else slice(4, -4),)*len(dims)
    for j in frames:
        u = {name: values[..., j-2:j+3].values.astype(float) for name, values in field.data_vars.items()}
        now = {name: values[..., 2] for name, values in u.items()}
        def differentiate(name, axes):
            return slope(now[name], dims.index(axes[0]), len(axes), spacing(field, axes[0]), periodic)
        columns = [np.broadcast_to(evaluate(parse_term(term), now, differentiate), now[target].shape) for term in truth]
        rate = slope(u[target], len(dims), 1, spacing(field, "t"), False)[..., 2]
        block = np.stack([column[inside].ravel() for column in (*columns, rate)], 1)
        gram = gram + block.T @ block
    found = np.linalg.solve(gram[:-1, :-1], gram[:-1, -1])
    return 100*np.mean(np.abs(found/list(truth.values()) - 1))


def halving(field, initial, steps, count, every=1):
    "Relative change of the first frames when the time step is halved."
    finer = simulate_frames(true_pde(field), initial, field.t.values[:count], steps=2*steps)
    thin = (slice(None), *[slice(None, None, every)]*len(initial.dims))
    def kept(j): return np.stack([u[..., j].values for u in field.data_vars.values()])
    pairs = [(frame[thin], kept(j)) for j, frame in enumerate(finer)]
    return max(np.linalg.norm(a - b)/np.linalg.norm(a) for a, b in pairs)


def strouhal(flow):
    "Frequency at which the velocity across the stream rises through zero behind the cylinder."
    v, t = flow.v.sel(x=2, y=0, method="nearest").values, flow.t.values
    j = np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0))
    return 1/np.diff(t[j] - v[j]/(v[j + 1] - v[j])*(t[1] - t[0])).mean()


@pytest.mark.parametrize("name, target", [(name, target) for name, terms in LARGE.items() for target in terms])
def test_large_fields_obey_their_equations(name, target, large):
    assert coefficient_error(large[name], target, range(7, large[name].sizes["t"] - 2, 2)) < ERRORS[name][0]


def test_half_the_step(large):
    for name, steps, count, bound in [("reaction_diffusion", 1, 51, 2e-4), ("gray_scott", 2, 31, 3e-5)]:
        assert halving(large[name], large[name].isel(t=0, drop=True), steps, count) < bound


def test_sizes_grids_and_shedding(large):
    assert {name: tuple(field.sizes.values()) for name, field in large.items()} == {
        "navier_stokes": (162, 85, 76), "reaction_diffusion": (128, 128, 201), "gray_scott": (32, 32, 32, 100)}
    flow, spiral, cube = (large[name] for name in LARGE)
    assert list(flow.data_vars) == ["w", "u", "v"] and 0.16 < strouhal(flow) < 0.18
    assert (float(spiral.x[0]), float(spiral.x[64]), float(spiral.t[-1])) == (-10, 0, 10)
    assert (float(cube.z[0]), float(cube.z[16]), float(cube.t[-1])) == (-1.25, 0, 10)
    assert spacing(cube, "t") == pytest.approx(10/99)
    x, y = 3.4375, -1.25 # points of the grid
    radius, angle = np.hypot(x, y), np.arctan2(y, x)
    assert float(spiral.v.sel(x=x, y=y)[0]) == pytest.approx(np.tanh(radius)*np.sin(angle - radius))


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("size", ["huge", "", None, 128, ["small"]])
def test_size_that_does_not_exist(name, size):
    with pytest.raises(ValueError, match="`size`.*'paper' or 'small'"): getattr(datasets, name)(size=size)


def test_same_bytes_every_time(fields):
    assert datasets.burgers(cache=False).u.values.tobytes() == fields["burgers"].u.values.tobytes()


def test_cache_is_used_and_gives_the_same_field(folder, fields, monkeypatch):
    first = datasets.burgers()
    def refuse(*args, **kw): raise AssertionError("the field was made again")
    monkeypatch.setattr(datasets, "simulate", refuse)
    assert datasets.burgers().identical(first) and first.identical(fields["burgers"])


def test_changing_a_field_does_not_change_the_cache(folder, fields):
    datasets.burgers()
    datasets.burgers().u.values[:] = 0
    assert datasets.burgers().identical(fields["burgers"])


def test_no_cache_writes_nothing(folder):
    datasets.burgers(cache=False)
    assert not folder.exists()


def cut(path): path.write_bytes(path.read_bytes()[:-2000])
def empty(path): path.write_bytes(b"")
def garbage(path): path.write_bytes(b"not an archive"*100)
def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data)//2] ^= 0xFF
    path.write_bytes(data)
def rewrite(path, change):
    with np.load(path) as file: arrays = dict(file)
    change(arrays)
    np.savez(path, **arrays)
def other_numbers(path): rewrite(path, lambda arrays: arrays["u"].__setitem__((0, 0), 9))
def no_fingerprint(path): rewrite(path, lambda arrays: arrays.pop("fingerprint"))
def no_field(path): rewrite(path, lambda arrays: arrays.pop("u"))
def other_shape(path): rewrite(path, lambda arrays: arrays.update(u=arrays["u"][:, :-1]))
def objects(path): rewrite(path, lambda arrays: arrays.update(u=np.array([None], dtype=object)))


@pytest.mark.parametrize("damage", [
    cut, empty, garbage, flip, other_numbers, no_fingerprint, no_field, other_shape, objects,
])
def test_damaged_file_is_made_again(damage, folder, fields):
    datasets.burgers()
    [path] = folder.iterdir()
    damage(path)
    with pytest.warns(UbicWarning, match="damaged"): assert datasets.burgers().identical(fields["burgers"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert datasets.burgers().identical(fields["burgers"])
    assert list(folder.iterdir()) == [path]


def test_folder_below_a_file(tmp_path, monkeypatch, fields):
    (tmp_path/"file").write_text("")
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path/"file"/"cache"))
    with pytest.warns(UbicWarning, match="UBIC_CACHE"): assert datasets.burgers().identical(fields["burgers"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="an administrator may write anywhere")
def test_read_only_folder(folder, fields):
    folder.mkdir()
    folder.chmod(0o500)
    with pytest.warns(UbicWarning, match="could not be kept"): assert datasets.burgers().identical(fields["burgers"])


def test_full_disk_leaves_nothing_behind(folder, fields, monkeypatch):
    def full(file, **arrays):
        file.write(b"half a file")
        raise OSError(28, "No space left on device")
    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(UbicWarning, match="No space left"): assert datasets.burgers().identical(fields["burgers"])
    assert list(folder.iterdir()) == []


def test_interrupted_write_leaves_nothing_behind(folder, monkeypatch):
    def interrupt(file, **arrays): raise KeyboardInterrupt
    monkeypatch.setattr(np, "savez", interrupt)
    with pytest.raises(KeyboardInterrupt): datasets.burgers()
    assert list(folder.iterdir()) == []


def toy_frames(): return (np.arange(6.0).reshape(1, 2, 3) + j for j in range(4))
def toy(path, frames=toy_frames, cache=True): return datasets.cached_frames(path, frames, (4, 1, 2, 3), float, cache)
def no_sum(path): path.write_bytes(path.read_bytes()[:-32])
def other_sum(path): path.write_bytes(path.read_bytes()[:-1] + b"?")
def longer(path): path.write_bytes(path.read_bytes() + b"?")
def other_header(path): path.write_bytes(path.read_bytes().replace(b"(4, 1, 2, 3)", b"(4, 1, 3, 2)"))
def other_type(path): path.write_bytes(path.read_bytes().replace(b"<f8", b"<i8"))
def pickled(path): np.save(path, np.array([None]*8, dtype=object), allow_pickle=True)
def last_frame_missing(path): path.write_bytes(path.read_bytes()[:-80])


@pytest.mark.parametrize("damage", [
    empty, garbage, flip, no_sum, other_sum, longer, other_header, other_type, pickled, last_frame_missing,
])
def test_damaged_frames_are_made_again(damage, tmp_path):
    path, expected = tmp_path/"toy.npy", np.stack(list(toy_frames()))
    toy(path)
    damage(path)
    with pytest.warns(UbicWarning, match="damaged"): assert np.array_equal(toy(path), expected)
    def refuse(): raise AssertionError("the frames were made again")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(toy(path, refuse), expected)
    assert list(tmp_path.iterdir()) == [path]


def test_frames_are_a_private_map(tmp_path):
    array = toy(tmp_path/"toy.npy")
    assert isinstance(array, np.memmap) and isinstance(array.base, mmap.mmap)
    array[:] = 0
    assert np.array_equal(toy(tmp_path/"toy.npy"), np.stack(list(toy_frames())))
    assert not isinstance(toy(tmp_path/"none.npy", cache=False), np.memmap) and not (tmp_path/"none.npy").exists()


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_broken_off_frames_leave_nothing_behind(error, tmp_path):
    tries = []
    def frames():
        tries.append(1)
        for j, frame in enumerate(toy_frames()):
            if j == 2 and len(tries) == 1: raise error
            yield frame
    if isinstance(error, OSError):
        with pytest.warns(UbicWarning, match="No space left"): collected = toy(tmp_path/"toy.npy", frames)
        assert np.array_equal(collected, np.stack(list(toy_frames())))
    else:
        with pytest.raises(KeyboardInterrupt): toy(tmp_path/"toy.npy", frames)
    assert list(tmp_path.iterdir()) == []


def test_large_field_from_the_cache_and_without_one(folder, large, monkeypatch):
    expected = large["reaction_diffusion"]
    for _ in range(2): assert datasets.reaction_diffusion(size="small").identical(expected)
    monkeypatch.setenv("UBIC_CACHE", str(next(folder.iterdir())/"below"))
    with pytest.warns(UbicWarning, match="UBIC_CACHE") as caught: made = datasets.reaction_diffusion(size="small")
    assert made.identical(expected)
    assert caught[0].filename == __file__


MEASURE = """
import resource, sys
from ubic import datasets
getattr(datasets, sys.argv[1])()
unit = 1 if sys.platform == "darwin" else 1024
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss*unit)
"""


@pytest.mark.slow
@pytest.mark.parametrize("name, shape", [
    ("navier_stokes", (325, 170, 151)), ("reaction_diffusion", (256, 256, 201)), ("gray_scott", (128, 128, 128, 100)),
])
def test_paper_size(name, shape, folder):
    written = set()
    for _ in range(2): # made, then read
        quiet = os.environ | {"TQDM_DISABLE": "1", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-c", MEASURE, name]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=quiet)
        assert float(done.stdout) < 4e9
        written |= {(path.name, path.stat().st_mtime_ns) for path in folder.iterdir()}
    assert len(written) == 1
    field = getattr(datasets, name)()
    assert field.u.shape == shape and field.u.dtype == (np.float32 if name == "gray_scott" else np.float64)
    frames = np.linspace(10, shape[-1] - 3, 8 if len(shape) == 3 else 3).astype(int)
    for target in LARGE[name]: assert coefficient_error(field, target, frames) < ERRORS[name][1]
    if name == "navier_stokes": assert 0.16 < strouhal(field) < 0.18
    if name == "gray_scott": assert halving(field, field.isel(t=0, drop=True).astype(float), 1, 12) < 1e-4


@pytest.mark.slow
def test_half_the_step_at_paper_size(folder):
    x = -10 + 20*np.arange(512)/512
    start = {name: (("x", "y"), u) for name, u in datasets.spiral_start(x[:, None], x).items()}
    initial = xr.Dataset(start, {"x": x, "y": x})
    assert halving(datasets.reaction_diffusion(), initial, 2, 41, every=2) < 2e-5


def make_repeatedly(times):
    warnings.simplefilter("error")
    sums = set()
    for _ in range(times):
        for path in datasets.cache_folder().glob("*.npz"): path.unlink(missing_ok=True)
        sums.add(fingerprint({"u": datasets.burgers().u.values}))
    return sums


def test_processes_at_once(folder, fields):
    with multiprocessing.get_context("spawn").Pool(3) as pool: results = pool.map(make_repeatedly, [8]*3)
    assert set().union(*results) == {fingerprint({"u": fields["burgers"].u.values})}
    assert [path.suffix for path in folder.iterdir()] == [".npz"]
