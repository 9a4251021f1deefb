"""Fields larger than memory: tasks on two workers, one of them killed, give what memory gives; nothing gathers them."""
import os
import signal
import threading
import time

import numpy as np
import pytest
import xarray as xr

import ubic
from ubic import library
from ubic.data import survey as survey_room
from ubic.weakform import boxes as boxes_room
from ubic.weakform import rows as rows_room

dask = pytest.importorskip("dask", reason="this needs ubic[dask]")
pytest.importorskip("dask.array", reason="this needs ubic[dask]")
distributed = pytest.importorskip("distributed", reason="this needs ubic[dask]")


def waves(frames=240):
    "Waves that solve u_t = 0.02 u_xx - 0.3 u_x - 0.1 u, with a little noise."
    x, t = np.linspace(0, 6.28, 160), np.linspace(0, 6, frames)
    u = sum(np.exp(-(0.02*k*k + 0.1)*t)*np.sin(k*(x[:, None] - 0.3*t) + k) for k in (1, 2, 3))
    return ubic.add_noise(ubic.as_field(u, x=x, t=t), 5, seed=0)


def slowly(field, seconds):
    "The same field in chunks of time, each of which takes a while to read."
    def read(block):
        time.sleep(seconds)
        return block
    return field.chunk(t=20).map(lambda u: u.copy(data=u.data.map_blocks(read, dtype=u.dtype)))


@pytest.fixture(scope="module")
def client():
    patience = {"distributed.scheduler.allowed-failures": 5, "distributed.scheduler.no-workers-timeout": "60s"}
    workers = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with dask.config.set(patience), distributed.LocalCluster(**workers) as cluster:
        with distributed.Client(cluster) as client: yield client


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(rows_room, "tile_bytes", 2**20)
    monkeypatch.setattr(rows_room, "kept_bytes", 2**14)


settings = {"conservative": dict(), "pysindy": dict(form="pysindy", rows=3000), "some": dict(rows=500)}


def same(one, other):
    assert one.n == other.n and one.n_eff == other.n_eff and one.terms == other.terms
    assert np.allclose(np.abs(one.R), np.abs(other.R), rtol=0, atol=1e-10*np.abs(one.R).max())


@pytest.mark.parametrize("name", settings)
def test_chunks_give_the_same_system(name, small_tiles):
    field = waves()
    kept = library.weak(field, **settings[name])
    chunked = library.weak(field.chunk(t=20), **settings[name])
    same(kept, chunked)
    assert not chunked.kept


def test_strong_library_in_chunks(small_tiles):
    same(library.strong(waves(), crop=3), library.strong(waves().chunk(t=17, x=50), crop=3))


def test_no_task_holds_the_field(monkeypatch, small_tiles):
    field, seen = waves(2400), []
    make_tile = rows_room.make_tile
    def observed(rows, part, *rest):
        seen.append(part.nbytes)
        return make_tile(rows, part, *rest)
    monkeypatch.setattr(rows_room, "make_tile", observed)
    library.weak(field.chunk(t=20))
    assert len(seen) > 20 and max(seen) < field.nbytes/5


def test_whole_road(small_tiles):
    field = waves()
    one, other = ubic.discover(field, derivative_order=2), ubic.discover(field.chunk(t=20), derivative_order=2)
    assert one["u"].terms == other["u"].terms and set(map(str, one["u"].terms)) == {"u", "u_x", "u_xx"}
    assert np.allclose(one["u"].coef, other["u"].coef, rtol=1e-10)
    assert np.allclose(one["u"].std, other["u"].std, rtol=1e-10)


def test_a_tile_holds_little_more_than_its_rows():
    "Wide boxes in space, as smooth fields have them: tiles stop where more would be read twice than once."
    sizes, box = dict(x=128, y=128, z=128, t=100), dict(x=(38, 3), y=(38, 3), z=(38, 3), t=(10, 3))
    grid = boxes_room.GridOfBoxes(sizes, dict.fromkeys(sizes, 1.0), box)
    stride, reach = rows_room.grid_stride(grid), {dim: (9, 2*half + 9) for dim, (half, _) in box.items()}
    places = {dim: len(c[::stride[dim]]) for dim, c in zip(grid.dims, grid.centers)}
    tiles = rows_room.divide_into_tiles(places, stride, reach, 6)
    def points(dim, a, b): return min(sizes[dim], (b - a)*stride[dim] + sum(reach[dim]))
    read = sum(np.prod([points(dim, *ends) for dim, ends in tile.items()]) for tile in tiles)
    assert read <= 3*np.prod(list(sizes.values()))


def test_samples_for_spectra_are_bounded(monkeypatch):
    zeros = dask.array.zeros((400, 10**6), chunks=(400, 10**4))
    field = xr.Dataset({"u": (("x", "t"), zeros)}, {"x": np.arange(400.0), "t": np.arange(1e6)})
    read, small = [], waves()
    def observed(lines, names):
        read.append(lines.nbytes)
        return small
    monkeypatch.setattr(survey_room, "compute", observed)
    _ = survey_room.Survey(field).corners
    along_x, along_t = read
    assert along_t < field.nbytes/20 and along_x < field.nbytes/100


@pytest.mark.parametrize("damage", ["cut", "gone"])
@pytest.mark.parametrize("make", [library.weak, library.strong])
def test_a_store_damaged_after_it_was_opened(tmp_path, make, damage):
    pytest.importorskip("zarr", reason="this needs ubic[dask]")
    path = tmp_path/"waves.zarr"
    ubic.save_field(waves().chunk(t=20), path)
    field = ubic.load(path, chunks={})
    files = [file for file in (path/"u").rglob("*") if file.is_file()]
    chunk = sorted(file for file in files if not file.name.startswith((".z", "zarr")))[3]
    if damage == "cut": chunk.write_bytes(chunk.read_bytes()[:50])
    else: chunk.unlink()
    with pytest.raises(ValueError, match="^`u` .*see whether the file or store behind it is complete"): make(field)


def test_from_a_store(tmp_path, small_tiles):
    pytest.importorskip("zarr", reason="this needs ubic[dask]")
    field = waves()
    ubic.save_field(field.chunk(t=20), tmp_path/"waves.zarr")
    same(library.weak(field), library.weak(ubic.load(tmp_path/"waves.zarr", chunks={})))


def test_two_workers(client, small_tiles):
    same(library.weak(waves()), library.weak(waves().chunk(t=20)))


def test_one_worker_is_killed(client, small_tiles):
    "The tasks it had are done again by others."
    field, victim = waves(), next(iter(client.run(os.getpid).values()))
    expected, chunked = library.weak(field), slowly(field, 0.05)
    killer = threading.Timer(0.8, os.kill, (victim, signal.SIGKILL))
    killer.start()
    found = library.weak(chunked)
    killer.join()
    assert victim not in client.run(os.getpid).values()
    same(expected, found)


def test_every_worker_is_killed(client, small_tiles):
    "A field that kills whoever reads it ends in one sentence."
    here = os.getpid()
    def deadly(block):
        if os.getpid() != here: os.kill(os.getpid(), signal.SIGKILL)
        return block
    fatal = waves().chunk(t=20).map(lambda u: u.copy(data=u.data.map_blocks(deadly, dtype=u.dtype)))
    sentence = "^`u` cannot be computed, because workers .* lost again and again; give them more memory"
    with pytest.raises(ValueError, match=sentence): library.weak(fatal)
    with pytest.raises(ValueError, match=sentence): _ = survey_room.Survey(fatal).corners
