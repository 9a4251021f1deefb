"""The generated fields against the published arrays, and a cache that is interfered with."""
import json
import multiprocessing
import os
import warnings

import numpy as np
import pytest

from ubic import datasets
from ubic.field import UbicWarning, check_field, true_pde

BOUNDS = {"burgers": 1e-7, "kdv": 1e-7, "ks": 1e-8}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("UBIC_CACHE", str(tmp_path/"cache"))
    return tmp_path/"cache"


@pytest.fixture(scope="module")
def fields():
    return {name: getattr(datasets, name)(cache=False) for name in datasets.names()}


@pytest.mark.parametrize("name", BOUNDS)
def test_published_arrays(name, fields, reference):
    with np.load(reference/f"{name}_clean.npz") as file: x, t, u = (file[key] for key in "xtu")
    field = fields[name]
    np.testing.assert_allclose(field.x, x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(field.t, t, rtol=0, atol=1e-12)
    assert np.linalg.norm(field.u - u)/np.linalg.norm(u) < BOUNDS[name]


def test_every_name_is_a_checked_field_with_its_equation(fields):
    assert set(fields) == set(BOUNDS)
    for field in fields.values():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert check_field(field).equals(field)
        assert true_pde(field) == json.loads(field.attrs["pde"]) and true_pde(field)["u"]["u*u_x"] == -1
        assert {"title", "equation", "reference"} <= set(field.attrs) and "diverged_at" not in field.attrs


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


@pytest.mark.parametrize("variable, expected", [("UBIC_CACHE", "."), ("XDG_CACHE_HOME", "ubic"), ("HOME", ".cache/ubic")])
def test_folder_follows_the_environment(variable, expected, tmp_path, monkeypatch):
    for name in ("UBIC_CACHE", "XDG_CACHE_HOME"): monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    assert datasets.cache_folder() == tmp_path/expected


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


@pytest.mark.parametrize("damage", [cut, empty, garbage, flip, other_numbers, no_fingerprint, no_field, other_shape, objects])
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


def make_repeatedly(times):
    warnings.simplefilter("error")
    sums = set()
    for _ in range(times):
        for path in datasets.cache_folder().glob("*.npz"): path.unlink(missing_ok=True)
        sums.add(datasets._fingerprint({"u": datasets.burgers().u.values}))
    return sums


def test_processes_at_once(folder, fields):
    with multiprocessing.get_context("spawn").Pool(3) as pool: results = pool.map(make_repeatedly, [8]*3)
    assert set().union(*results) == {datasets._fingerprint({"u": fields["burgers"].u.values})}
    assert [path.suffix for path in folder.iterdir()] == [".npz"]
