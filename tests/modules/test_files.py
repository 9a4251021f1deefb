"Fields in files: they come back unchanged, and what is damaged or claims too much is refused."
import gzip
import io
import zipfile
import zlib
from copy import copy

import numpy as np
import pytest
import xarray as xr
from scipy.io import savemat

from fields import field, t, u2, u3, x, y
from ubic.field import as_field, check_field, true_pde
from ubic.files import load, save_field
from ubic.ground.checks import UbicWarning


def test_saved_field_comes_back_identical(tmp_path):
    ds = as_field({"u": u3, "v": (u3**2).astype("float32")}, x=x, y=y, t=t)
    ds = ds.assign_attrs(pde='{"u": {"u_xx": 0.1}}', noise_percent=30.0, note="ν = 0.1", levels=[1, 2.5])
    ds.u.attrs["units"], ds.x.attrs["long_name"] = "m/s", "position"
    again = load(save_field(ds, tmp_path / "field.npz"))
    assert again.identical(ds) and again.v.dtype == np.float32 and true_pde(again) == {"u": {"u_xx": 0.1}}
    assert [p.name for p in tmp_path.iterdir()] == ["field.npz"]
    assert load(tmp_path / "field.npz", variables="v", rename={"v": "w"}).w.dtype == np.float32


def test_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = save_field(field(), tmp_path / "field.npz")
    before = path.read_bytes()
    def fail(*args, **kw): raise OSError("disk full")
    monkeypatch.setattr(np, "savez", fail)
    with pytest.raises(OSError): save_field(field(), path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["field.npz"]


def test_numpy_attributes_are_saved_as_numbers(tmp_path):
    ds = field().assign_attrs(nu=np.float64(0.1), sizes=np.arange(3))
    assert load(save_field(ds, tmp_path / "a.npz")).attrs == {"nu": 0.1, "sizes": [0, 1, 2]}


def test_zarr_stays_on_disk(tmp_path):
    pytest.importorskip("zarr")
    dask = pytest.importorskip("dask.array")
    field().to_zarr(tmp_path / "a.zarr", zarr_format=2)
    ds = load(tmp_path / "a.zarr")
    assert isinstance(ds.u.data, dask.Array) and np.array_equal(ds.u, u2)


@pytest.mark.parametrize("kind", ["npz", "nc", "zarr"])
def test_unknowns_keep_their_order(tmp_path, kind):
    for package in {"nc": ["h5netcdf"], "zarr": ["zarr"]}.get(kind, []): pytest.importorskip(package)
    ds = xr.Dataset({name: field().u + i for i, name in enumerate("wuv")}).assign_attrs(source="a test")
    again = load(save_field(ds, tmp_path / f"a.{kind}"))
    assert list(again) == ["w", "u", "v"] and again.identical(check_field(ds))


def test_order_in_a_store_that_was_changed(tmp_path):
    zarr = pytest.importorskip("zarr")
    path = save_field(xr.Dataset({name: field().u for name in "wuv"}), tmp_path / "a.zarr")
    for order, expected in ((["v", "gone", "w"], ["v", "w", "u"]), ("vuw", ["u", "v", "w"])):
        zarr.open_group(path, mode="a").attrs["ubic_unknowns"] = order
        zarr.consolidate_metadata(path, zarr_format=2)
        again = load(path)
        assert list(again) == expected if isinstance(order, list) else set(again) == set(expected)


def test_npz_with_several_unknowns_and_meshes(tmp_path):
    X, T = np.meshgrid(x, t, indexing="ij")
    np.savez_compressed(tmp_path / "a.npz", u=u2, v=u2.T**2, x=x, t=t, xx=X, tt=T, nu=0.1)
    ds = load(tmp_path / "a.npz")
    assert list(ds.data_vars) == ["u", "v"] and np.allclose(ds.v, u2**2)
    assert list(load(tmp_path / "a.npz", variables=["v"]).data_vars) == ["v"]


def test_one_steady_unknown_in_a_file_is_a_warning(tmp_path):
    np.savez(tmp_path / "a.npz", u=u2, v=np.repeat(u2[:, :1], 11, 1), x=x, t=t)
    with pytest.warns(UbicWarning, match="target 'v'"): load(tmp_path / "a.npz")


def test_npy_needs_coordinates(tmp_path):
    np.save(tmp_path / "a.npy", u2.T)
    assert np.array_equal(load(tmp_path / "a.npy", x=x, t=t).u, u2)
    with pytest.raises(ValueError, match="coordinates"): load(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="no coordinate values"): load(tmp_path / "a.npy", dims=("t", "x"))


def write_all(folder):
    savemat(folder / "a.mat", {"u": u2, "x": x, "t": t}, do_compression=True)
    np.save(folder / "a.npy", u2)
    save_field(field(), folder / "a.npz")
    field().to_netcdf(folder / "a.nc", engine="scipy")
    field().to_netcdf(folder / "b.nc", engine="h5netcdf")


@pytest.mark.parametrize("name", ["a.mat", "a.npy", "a.npz", "a.nc", "b.nc"])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.6, 0.9])
def test_truncated_files_never_give_a_field(tmp_path, name, share):
    pytest.importorskip("h5netcdf")
    write_all(tmp_path)
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[:int(share * len(whole))])
    grid = dict(x=x, t=t) if name.endswith(".npy") else {}
    with pytest.raises(ValueError, match=name.replace(".", r"\.")): load(tmp_path / name, **grid)


@pytest.mark.parametrize("suffix", [".mat", ".npy", ".npz", ".nc", ".zarr"])
def test_files_of_another_kind(tmp_path, suffix):
    if suffix == ".zarr": pytest.importorskip("zarr")
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"this is a text\n" * 100)
    with pytest.raises(ValueError, match=f"cannot be read as \\{suffix}"): load(path)


# --- headers that claim more than there is, or more than memory holds -------------------------------------------------

def npy(shape, numbers):
    "An .npy file whose header gives this shape, with so many numbers behind it."
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(8*numbers)


def short_npy(path): path.write_bytes(npy((1000, 1000), 9))


def short_member(path):
    with zipfile.ZipFile(path, "w") as archive: archive.writestr("u.npy", npy((1000, 1000), 9))


def swollen_member(path):
    "The list of the archive says that a member unpacks to ten million bytes."
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("u.npy", npy((3, 3), 9))
        archive.filelist[0].file_size = 10**7


def members_in_one_place(path):
    "Nine members that all are the same bytes of the archive."
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("u.npy", npy((30, 30), 900))
        for i in range(8):
            archive.filelist.append(copy(archive.filelist[0]))
            archive.filelist[-1].filename = f"u{i}.npy"


def matlab(element): return b"MATLAB".ljust(124, b" ") + b"\0\x01IM" + element


def short_element(path): path.write_bytes(matlab(np.array([14, 10**7], "<u4").tobytes() + bytes(80)))


def swollen_element(path):
    packed = zlib.compress(np.array([14, 10**7], "<u4").tobytes() + bytes(80))
    path.write_bytes(matlab(np.array([15, len(packed)], "<u4").tobytes() + packed))


def short_matlab_4(path): path.write_bytes(np.array([0, 1000, 1000, 0, 2], "<i4").tobytes() + b"u\0" + bytes(72))


def empty_hdf(path):
    with pytest.importorskip("h5py").File(path, "w") as file:
        file.create_dataset("u", (1000, 1000), "f8", chunks=(10, 10))


@pytest.mark.parametrize("name, write, words", [
    ("a.npy", short_npy, "its header claims 8000128 bytes but holds at most 200"),
    ("a.npz", short_member, "its header claims 8000128 bytes but holds at most 200"),
    ("a.npz", swollen_member, r"u\.npy claims 10000000 bytes"),
    ("a.npz", members_in_one_place, "all of it together claims 65952 bytes"),
    ("a.mat", short_element, "one of its elements claims 10000008 bytes but holds at most 88"),
    ("a.mat", swollen_element, "one of its elements claims 10000000 bytes"),
    ("a.mat", short_matlab_4, "u claims 1000000 bytes but holds at most 94"),
    ("a.mat", empty_hdf, "u claims 8000000 bytes"),
    ("a.nc", empty_hdf, "u claims 8000000 bytes"),
], ids=lambda value: getattr(value, "__name__", None))
def test_a_header_that_claims_more_than_the_file_holds(tmp_path, name, write, words):
    "The claim is compared with the file before anything is read, though memory would do for it."
    write(tmp_path / name)
    with pytest.raises(ValueError, match=f"cannot be read as .*: {words}"): load(tmp_path / name)


def test_a_header_that_lies_is_noticed_in_chunks_too(tmp_path):
    pytest.importorskip("dask.array")
    empty_hdf(tmp_path / "a.nc")
    with pytest.raises(ValueError, match="u claims 8000000 bytes"): load(tmp_path / "a.nc", chunks="auto")


def write_zarr(path):
    pytest.importorskip("zarr")
    save_field(field(), path)


def write_hdf(path):
    with pytest.importorskip("h5py").File(path, "w") as file: file["u"] = u2


def write_packed_mat(path): savemat(path, {"u": np.zeros((100, 100))}, do_compression=True)


def write_packed_table(path): path.write_bytes(gzip.compress(b"x,t,u\n" + b"0,0,0\n"*10000))


@pytest.mark.parametrize("name, write, what", [
    ("a.npy", lambda path: np.save(path, u2), "its array"),
    ("a.npz", lambda path: np.savez(path, u=u2), "all of it together"),
    ("a.mat", lambda path: savemat(path, {"u": u2}), "it"),
    ("a.mat", write_packed_mat, "one of its elements"),
    ("a.mat", write_hdf, "all of it together"),
    ("a.nc", lambda path: field().to_netcdf(path, engine="scipy"), "all of it together"),
    ("a.nc", lambda path: field().to_netcdf(path, engine="h5netcdf"), "all of it together"),
    ("a.zarr", write_zarr, "a chunk of `u`"),
    ("a.csv", lambda path: path.write_text("x,t,u\n" + "0,0,0\n"*1000), "it"),
    ("a.csv.gz", write_packed_table, "its text"),
], ids=["npy", "npz", "mat", "packed mat", "hdf mat", "classic nc", "hdf nc", "zarr", "csv", "csv.gz"])
def test_what_does_not_fit_into_memory_is_not_read(tmp_path, monkeypatch, name, write, what):
    "On a machine with a kilobyte of memory."
    write(tmp_path / name)
    monkeypatch.setattr("ubic.ground.storage.memory_limit", lambda: 1000)
    too_large = rf"cannot be read as .*: {what} would take \S+ GB, and there are 1e-06 GB of memory"
    with pytest.raises(ValueError, match=too_large): load(tmp_path / name)


# --- arguments of the wrong kind --------------------------------------------------------------------------------------

def test_load_arguments(tmp_path):
    saved = save_field(field(), tmp_path / "a.NPZ")
    assert load(saved).identical(field()) and load(saved, rename={}).identical(field())
    refused = [
        ((None,), TypeError, "path"), ((saved, 3), TypeError, "variables"), ((saved, None, 3), ValueError, "dims"),
        ((saved, None, ("x", "t")), ValueError, "dims"), ((saved, None, None, "u"), TypeError, "rename"),
        ((saved, None, None, {"u": 3}), TypeError, "rename"),
    ]
    for arguments, kind, word in refused:
        with pytest.raises(kind, match=f"`{word}` is") as caught: load(*arguments)
        assert "\n" not in str(caught.value)
    np.save(tmp_path / "b.npy", u2)
    with pytest.raises(TypeError, match="`dims` is 3"): load(tmp_path / "b.npy", dims=3, x=x, t=t)
