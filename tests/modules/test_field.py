"Fields: what the notebook cannot show, files of every kind, faults, permutations, published-size arrays."
import gzip
import io
import zipfile
import zlib
from copy import copy
from itertools import permutations

import numpy as np, pytest, xarray as xr
from scipy.interpolate import make_interp_spline
from scipy.io import loadmat, savemat

import ubic
from ubic.field import (
    Advice, ArgumentError, UbicWarning, add_noise, as_field, as_rng, check_field, check_positive, check_uniform,
    check_whole, plot_field, shows_error, shows_warning, space_dims, spacing, true_pde,
)
from ubic.files import load, save_field, write_atomically
from ubic.data.readers import READERS

rng = np.random.default_rng(0)
x, y, t = np.linspace(0, 3, 31), np.linspace(0, 2, 21), np.linspace(0, 1, 11)
u2 = np.sin(2 * x[:, None]) * np.exp(-t) + x[:, None] * t
u3 = np.sin(x[:, None, None] + y[:, None]) * np.exp(-t) + x[:, None, None] * t


def field(**kw): return as_field(u2, x=x, t=t, **kw)


def messages(caught): return [str(w.message) for w in caught]


# --- canonical form -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_any_labelled_order_gives_the_same_field(order):
    dims = tuple("xyt"[i] for i in order)
    ds = as_field(u3.transpose(order), dims=dims, x=x, y=y, t=t)
    assert ds.u.dims == ("x", "y", "t") and np.array_equal(ds.u, u3) and space_dims(ds) == ("x", "y")


@pytest.mark.parametrize("order", [p for p in permutations(range(3)) if p != (0, 1, 2)])
def test_unlabelled_permutation_is_an_error_whose_advice_works(order):
    wrong = u3.transpose(order)
    with pytest.raises(ValueError, match=r"did you mean transpose\(") as caught: as_field(wrong, x=x, y=y, t=t)
    advice = str(caught.value).split("transpose(")[1].split(")")[0]
    assert np.array_equal(as_field(wrong.transpose([int(i) for i in advice.split(",")]), x=x, y=y, t=t).u, u3)


def test_check_is_idempotent_and_keeps_precision_and_attributes():
    ds = as_field(u2.astype("float32"), x=x.astype("float32"), t=t).assign_attrs(pde="{}")
    ds.u.attrs["units"] = "m/s"
    again = check_field(ds)
    assert again.identical(ds) and again.u.dtype == np.float32 and again.x.dtype == np.float64


def test_big_endian_values_become_native():
    ds = as_field(u2.astype(">f4"), x=x.astype(">f8"), t=t)
    assert ds.u.dtype == np.float32 and ds.u.dtype.isnative and ds.x.dtype.isnative


def test_scalar_coordinates_are_dropped():
    assert set(check_field(field().assign_coords(run=3)).coords) == {"x", "t"}


# --- what is not refused --------------------------------------------------------------------------------------------

def with_value(value):
    u = u2.copy(); u[4, 5] = value
    return u


def test_variation_only_between_the_probed_slices_counts():
    u = np.zeros((9, 7)); u[2, 1] = 1.0
    as_field(u, x=np.arange(9), t=np.arange(7))


def test_nearly_uniform_grids_pass(recwarn):
    as_field(u2, x=x + 1e-9 * np.ptp(x) * np.sin(7 * x), t=t)
    as_field(u2, x=np.float32(1000 + x), t=t)
    assert not messages(recwarn)


@pytest.mark.parametrize("step", [1.0, 0.1, 0.01, 0.001])
def test_rounding_that_was_lost_with_an_epoch_is_evened_out(step, recwarn):
    since = (1.7e9 + step * np.arange(200)) - 1.7e9
    even = check_uniform("t", since)
    assert np.ptp(np.diff(even)) < 1e-9 * step and np.abs(even - since).max() < 1e-3 * step
    wave = np.sin(x[:, None] - np.arange(200))
    assert spacing(as_field(wave, x=x, t=since), "t") == pytest.approx(step, rel=1e-5) and not messages(recwarn)
    assert np.array_equal(check_uniform("t", even), even)


SHARES = [(1e-6, True), (1e-4, True), (9e-4, True), (1.1e-3, False), (1e-2, False), (0.3, False)]


@pytest.mark.parametrize("share, passes", SHARES)
def test_a_thousandth_of_a_step_is_the_bound(share, passes):
    uneven = r"`x` is not uniform: \S+ at index \d+ is \S+ away from an even grid \(steps"
    for length, origin in ((50, 0.0), (2000, 1e4)):
        values = origin + 0.01 * (np.arange(length) + share * np.where(np.arange(length) % 7 == 3, 1, 0))
        if passes: assert np.ptp(np.diff(check_uniform("x", values))) < 1e-7
        else:
            with pytest.raises(ValueError, match=uneven): check_uniform("x", values)


def test_what_is_evened_out_does_not_matter():
    "Frames taken a thousandth of a step beside their place change coefficients by much less than their uncertainty."
    clean = ubic.datasets.burgers()
    random = np.random.default_rng(0).uniform(-1, 1, clean.sizes["t"] - 2)
    moved = clean.t.values + np.r_[0, 1e-3 * spacing(clean, "t") * random, 0]
    beside = clean.copy(data={"u": make_interp_spline(clean.t.values, clean.u.values, k=7, axis=1)(moved)})
    for noise, most in ((1, 1e-5), (30, 1e-5)):
        exact, shifted = (ubic.discover(add_noise(field, noise, seed=0))["u"] for field in (clean, beside))
        assert shifted.terms == exact.terms and np.abs(shifted.coef / exact.coef - 1).max() < most
        assert np.abs((shifted.coef - exact.coef) / exact.std).max() < 0.02
    labelled = ubic.discover(add_noise(clean.assign_coords(t=moved), 30, seed=0))["u"]
    even = ubic.discover(add_noise(clean, 30, seed=0))["u"]
    assert labelled.coef == pytest.approx(even.coef, rel=1e-9)


# --- memory order ---------------------------------------------------------------------------------------------------

def interacting(nx, nt):
    "Several waves at several speeds, on an interval that is not a period."
    s, w = np.linspace(-8, 8, nx)[:, None], np.linspace(0, 10, nt)
    return np.exp(-(s + 5 - w)**2) + 0.6 * np.exp(-(s - 0.4 * w)**2 / 2) + 0.2 * np.sin(2 * s + w)


@pytest.mark.parametrize("shape", [(256, 101), (120, 251), (200, 190)])
@pytest.mark.parametrize("percent", [0, 30])
def test_reshaped_instead_of_transposed_is_noticed(shape, percent):
    u = interacting(*shape)
    u = u + percent / 100 * u.std() * np.random.default_rng(1).standard_normal(shape)
    grid = dict(x=np.arange(shape[0]), t=np.arange(shape[1]))
    for torn in (u.T.reshape(shape), u.reshape(shape[::-1]).T):
        with pytest.warns(UbicWarning, match="transposed, not reshaped"): as_field(torn, **grid)


@pytest.mark.parametrize("shape", [(256, 101), (101, 100), (40, 30, 20), (13, 12)])
@pytest.mark.parametrize("seed", range(3))
def test_noise_never_looks_reshaped(shape, seed, recwarn):
    noise = np.random.default_rng(seed).standard_normal(shape)
    grid = dict(zip("xyt" if len(shape) == 3 else "xt", map(np.arange, shape)))
    as_field(noise, **grid)
    if len(shape) == 2:
        u = interacting(*shape)
        for percent in (0, 10, 100, 300): as_field(u + percent / 100 * u.std() * noise, **grid)
    assert not messages(recwarn)


# --- noise ----------------------------------------------------------------------------------------------------------

def test_noise_is_that_of_one_legacy_draw():
    ds = field()
    expected = u2 + 0.3 * u2.std() * np.random.RandomState(0).randn(*u2.shape)
    assert np.allclose(add_noise(ds, 30, seed=np.random.RandomState(0)).u, expected, rtol=0, atol=1e-15)


def test_joint_noise_is_that_of_the_stack():
    ds = as_field({"u": u3, "v": 5 + u3**2}, x=x, y=y, t=t)
    stack = np.stack([ds.u, ds.v], -1)
    expected = stack + 0.1 * stack.std() * np.random.RandomState(100).randn(*stack.shape)
    noisy = add_noise(ds, 10, seed=np.random.RandomState(100), joint=True)
    assert np.allclose(np.stack([noisy.u, noisy.v], -1), expected, rtol=0, atol=1e-13)


def test_separate_noise_draws_one_unknown_after_the_other():
    ds, legacy = as_field({"w": u2, "u": u2**2}, x=x, t=t), np.random.RandomState(0)
    expected = {n: v + 0.01 * v.std() * legacy.randn(*v.shape) for n, v in (("w", u2), ("u", u2**2))}
    noisy = add_noise(ds, 1, seed=np.random.RandomState(0))
    for n in expected: assert np.allclose(noisy[n], expected[n], rtol=0, atol=1e-15)


def test_noise_leaves_the_input_alone_and_keeps_precision():
    ds = as_field(u2.astype("float32"), x=x, t=t).assign_attrs(pde='{"u": {}}')
    before = ds.copy(deep=True)
    noisy = add_noise(ds, 50, seed=np.random.default_rng(3))
    assert ds.identical(before) and noisy.u.dtype == np.float32
    assert noisy.attrs == {"pde": '{"u": {}}', "noise_percent": 50.0}


@pytest.mark.parametrize("percent", [-1, np.nan, np.inf, "ten", None])
def test_bad_noise_level(percent):
    with pytest.raises(ValueError, match="`percent`"): add_noise(field(), percent)


# --- sentences in another voice ---------------------------------------------------------------------------------------

def typed(argument):
    "As somebody might say it who types commands."
    if isinstance(argument, Advice): return " ".join([f"[{argument.name}]", *argument.names])
    return f"--{argument.name}"


SENTENCES = {
    "two axes of a length": (
        lambda: as_field(np.outer(t, t**2), x=t, t=t),
        "`data` has shape (11, 11), and axes of equal length cannot be told apart; "
        "name them, for instance dims=('x', 't').",
        "--data has shape (11, 11), and axes of equal length cannot be told apart; name them, for instance [dims] x t.",
    ),
    "no coordinates": (
        lambda: as_field(u2, dims=("x", "t"), x=x),
        "`t` has no coordinate values; give them, for instance as_field(data, t=t, ...).",
        "--t has no coordinate values; [coords].",
    ),
    "other axes": (
        lambda: check_field(field().rename(x="lon")),
        "`field` has axes ['lon']; rename them so that only x, y, z and t remain.",
        "--field has axes ['lon']; [rename] so that only x, y, z and t remain.",
    ),
    "no x": (
        lambda: check_field(field().rename(x="y")),
        "`field` has axes ('y', 't'); a field needs x, or x and y, or x, y and z, together with t.",
        "--field has axes ('y', 't'); a field needs x, or x and y, or x, y and z, together with t[rename].",
    ),
    "turned round": (
        lambda: as_field(u2.T, x=x, t=t),
        "`data` has shape (11, 31) but the axes x, t have lengths (31, 11); did you mean transpose(1, 0)?",
        "--data has shape (11, 31) but the axes x, t have lengths (31, 11); did you mean transpose(1, 0)?",
    ),
    "a name of the data, which is no argument": (
        lambda: check_field(field().rename(u="power").assign(v=field().u.isel(t=0, drop=True))),
        "`v` has axes ('x',); every unknown and every known field must have all of ('x', 't'): "
        "spread it over the others with v.broadcast_like(...), or leave it out.",
        "`v` has axes ('x',); every unknown and every known field must have all of ('x', 't'): [variables].",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_sentences_keep_the_parts_that_another_voice_says(case):
    call, python, other = SENTENCES[case]
    with pytest.raises(ArgumentError) as caught: call()
    assert str(caught.value) == python and caught.value.sentence(typed) == other


# --- files ----------------------------------------------------------------------------------------------------------

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


@pytest.mark.parametrize("name, transposed", [("usol", False), ("uu", True), ("u", True)])
def test_matlab_5(tmp_path, name, transposed):
    grid = {"x": x[None], "t" if name == "usol" else "tt": t[:, None]}
    others = {"X": np.zeros((31, 11)), "nu": 0.1, "note": "text", "cell": np.array([{}, 1], dtype=object)}
    savemat(tmp_path / "a.mat", {name: u2.T if transposed else u2} | grid | others)
    ds = load(tmp_path / "a.mat")
    assert list(ds.data_vars) == ["u"] and np.array_equal(ds.u, u2) and np.array_equal(ds.t, t)
    assert load(tmp_path / "a.mat", variables=name).identical(ds)


@pytest.mark.parametrize("packed", [False, True])
def test_matlab_5_reads_numbers_as_scipy_does(tmp_path, packed):
    kinds = ("f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "bool")
    arrays = {kind: rng.integers(0, 100, (3, 4)).astype(kind) for kind in kinds}
    arrays |= {"complex": rng.random((2, 3)) + 1j * rng.random((2, 3)), "deep": rng.random((2, 3, 4))}
    arrays |= {"one": np.uint8([[7]]), "none": np.zeros((0, 3)), "a_name_of_some_length": rng.random((2, 2))}
    others = {"text": "hello", "cell": np.array([{}, 1], dtype=object), "parts": {"a": 1}}
    savemat(tmp_path / "a.mat", arrays | others, do_compression=packed)
    ours, theirs = READERS[".mat"](tmp_path / "a.mat"), loadmat(tmp_path / "a.mat")
    assert set(ours) == set(arrays)
    for name in arrays:
        assert ours[name].dtype == theirs[name].dtype and ours[name].shape == theirs[name].shape, name
        assert np.array_equal(ours[name], theirs[name]), name


@pytest.mark.parametrize("order", ["<", ">"])
def test_matlab_5_of_either_order_with_numbers_in_few_bytes(tmp_path, order):
    def in_order(values, kind): return np.array(values, f"{order}{kind}4").tobytes()
    def element(kind, content): return in_order([kind, len(content)], "u") + content + bytes(-len(content) % 8)
    def small(kind, content): return in_order([len(content) << 16 | kind], "u") + content.ljust(4, b"\0")
    flags, sizes = element(6, in_order([6, 0], "u")), element(5, in_order([2, 3], "i"))
    array = flags + sizes + small(1, b"u") + element(2, bytes(range(6))) # a double array of bytes
    mark = {"<": b"\0\1IM", ">": b"\1\0MI"}[order]
    (tmp_path / "a.mat").write_bytes(b"MATLAB".ljust(124, b" ") + mark + element(14, array))
    ours = READERS[".mat"](tmp_path / "a.mat")["u"]
    assert ours.dtype == float and np.array_equal(ours, np.arange(6).reshape(2, 3, order="F"))
    assert np.array_equal(ours, loadmat(tmp_path / "a.mat")["u"])


@pytest.mark.parametrize("complex_", [False, True])
def test_matlab_73(tmp_path, complex_):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        pairs = np.zeros(u2.T.shape, dtype=[("real", "f8"), ("imag", "f8")])
        pairs["real"], pairs["imag"] = u2.T, 2 * u2.T
        file["usol"] = pairs if complex_ else u2.T
        file["x"], file["t"] = x[:, None], t[None]
        file["note"] = np.frombuffer(b"text", dtype="u1").astype("u2")[:, None]
        file["note"].attrs["MATLAB_class"] = np.bytes_("char")
    ds = load(tmp_path / "a.mat")
    assert list(ds.data_vars) == (["ure", "uim"] if complex_ else ["u"])
    assert np.array_equal(ds.ure if complex_ else ds.u, u2)


def test_netcdf_classic_and_hdf5(tmp_path):
    ds = field().assign_attrs(pde="{}")
    ds.to_netcdf(tmp_path / "a.nc", engine="scipy")
    assert load(tmp_path / "a.nc").identical(ds)
    pytest.importorskip("h5netcdf")
    ds.rename(t="time").to_netcdf(tmp_path / "b.nc", engine="h5netcdf")
    assert load(tmp_path / "b.nc").identical(ds)


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


def test_chunked_field_is_read_once_by_the_check():
    dask = pytest.importorskip("dask.array")
    reads = []
    def block(block_info=None):
        reads.append(block_info[None]["chunk-location"])
        (a, b), (c, d) = block_info[None]["array-location"]
        return u2[a:b, c:d]
    lazy = dask.map_blocks(block, chunks=((10, 21), (5, 6)), dtype=float, meta=np.empty((0, 0)))
    ds = as_field(lazy, x=x, t=t)
    assert isinstance(ds.u.data, dask.Array) and sorted(reads) == sorted(set(reads)) and len(reads) == 4
    holes = dask.from_array(with_value(np.nan), chunks=8)
    with pytest.raises(ValueError, match="not finite"): as_field(holes, x=x, t=t)


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


# --- headers that claim more than there is, or more than memory holds -----------------------------------------------

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


# --- arguments of the wrong kind ------------------------------------------------------------------------------------

@pytest.mark.parametrize("origin, step, off", [(5e6, 10, 2), (1e6, 1, 0.4)])
def test_single_precision_hides_no_uneven_step(origin, step, off):
    u, times = np.random.default_rng(0).random((60, 40)), np.arange(40.0)
    even = origin + step*np.arange(60.0)
    assert as_field(u, x=np.float32(even), t=times).x.diff("x").std() < 1e-6*step
    uneven = np.float32(even + off*(np.arange(60) % 5 == 2))
    with pytest.raises(ValueError, match="`x` is not uniform"): as_field(u, x=uneven, t=times)


def test_a_distant_origin_hides_no_uneven_step():
    seconds, noise = 1.7e9 + np.arange(40), np.random.default_rng(0).standard_normal(40)
    with pytest.raises(ValueError, match="`t` is not"): check_uniform("t", seconds + 0.4 * noise)
    with pytest.raises(ValueError, match="not uniform"): check_uniform("t", seconds + 0.4 * np.tanh(noise))
    assert np.array_equal(check_uniform("t", seconds), seconds)
    assert len(check_uniform("t", 1.7e9 + 0.1 * np.arange(40))) == 40
    wave = np.sin(x[:, None] - 0.1 * np.arange(40))
    with pytest.raises(ValueError, match="not uniform"): as_field(wave, x=x, t=seconds + 0.4 * np.tanh(noise))
    assert spacing(as_field(wave, x=x, t=seconds), "t") == 1


def test_whole_positive_and_seed():
    assert type(check_whole("n", np.int32(3), 1)) is int and check_whole("n", 3, 1, 3) == 3
    assert check_positive("a", np.float32(2)) == 2
    for bad in (0, 4, 2.0, True, "2", None):
        with pytest.raises(ValueError, match="`n` is .*from 1 to 3 .because."): check_whole("n", bad, 1, 3, "because")
    refused = {ValueError: (0, -1, np.inf, np.nan), TypeError: ("a", True, 1j)}
    for bad, kind in ((bad, kind) for kind, values in refused.items() for bad in values):
        with pytest.raises(kind, match="`a` is"): check_positive("a", bad)
    legacy = np.random.RandomState(0)
    assert as_rng(legacy) is legacy and as_rng(np.int64(5)).random() == np.random.default_rng(5).random()
    for bad, kind in ((-1, ValueError), (0.5, ValueError), (None, TypeError), ("a", TypeError), ([1, 2], TypeError)):
        with pytest.raises(kind, match="`seed` is"): add_noise(field(), 1, seed=bad)


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


def test_ragged_lists():
    with pytest.raises(ValueError, match="`u` cannot"): as_field([[1, 2, 3], [4, 5]], x=x, t=t)
    with pytest.raises(ValueError, match="`x` cannot"): as_field(u2, x=[[1], [2, 3]], t=t)


def test_writing_whole_or_not_at_all(tmp_path):
    with pytest.raises(ValueError, match="no folder .*nowhere"): save_field(field(), tmp_path / "nowhere" / "a.npz")
    with pytest.raises(ValueError, match="is a folder"): write_atomically(tmp_path, lambda file: None)
    with pytest.raises(TypeError, match="`path` is None"): save_field(field(), None)
    (tmp_path / "a.txt").write_text("old")
    def fail(file):
        file.write(b"new")
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt): write_atomically(tmp_path / "a.txt", fail)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]
    assert write_atomically(str(tmp_path / "a.txt"), lambda file: file.write(b"new")).read_text() == "new"
    assert len(list(tmp_path.iterdir())) == 1


# --- small things ---------------------------------------------------------------------------------------------------

def test_shows_error_and_warning(capsys):
    with pytest.raises(AssertionError):
        with shows_error(): pass
    with pytest.raises(AssertionError):
        with shows_warning(): pass
    with pytest.raises(KeyError):
        with shows_error(ValueError): {}["a"]
    with shows_warning():
        for _ in range(2): as_field(u2 + 0j, x=x, t=t)
    assert capsys.readouterr().out.count("UbicWarning") == 1


def test_true_pde():
    assert true_pde(field()) == {}
    with pytest.raises(ValueError, match="JSON"): true_pde(field().assign_attrs(pde="u_t = u"))


def test_plots():
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt
    ax = plot_field(field(), cmap="magma")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("$t$", "$x$")
    panels = plot_field(as_field(u3, x=x, y=y, t=t))
    assert len(panels) == 4 and panels[-1].get_title() == "$t = 1$"
    deep = as_field(u3[:, :, None] * np.cos(y[:5])[:, None], x=x, y=y, z=y[:5], t=t)
    assert len(plot_field(deep)) == 4 and plot_field(deep, ax=plt.figure().subplots()).get_xlabel() == "$x$"
    assert len(panels[0].figure.axes) == 5 # one color bar
    assert len({panel.collections[0].get_clim() for panel in panels}) == 1 # the same colors
    assert plot_field(deep)[0].get_title() == r"$t = 0,\ z = 0.2$"
    assert plot_field(deep, ax=plt.figure().subplots()).get_title().startswith("$t = 1,")
    assert len(plot_field(deep.isel(t=[0, 5]))) == 2
    assert plot_field(deep, ax=plt.figure().subplots(2, 2)).shape == (2, 2)
    plt.close("all")


# --- tables ---------------------------------------------------------------------------------------------------------

def write_table(path, ds=None, **kw):
    "A field as a long table; returns the field."
    ds = field() if ds is None else ds
    ds.to_dataframe().reset_index().to_csv(path, **{"index": False} | kw)
    return ds


@pytest.mark.parametrize("kw", [
    dict(), dict(sep=";"), dict(sep="\t"), dict(sep=" "), dict(sep=";", decimal=","), dict(index=True),
    dict(quoting=1), dict(encoding="utf-8-sig"), dict(encoding="utf-16"),
    dict(encoding="utf-16", sep="\t", decimal=",", lineterminator="\r\n"),
    dict(sep=" ", decimal=","), dict(lineterminator="\r\n"), dict(lineterminator="\r"),
], ids=str)
def test_tables_of_all_kinds(tmp_path, kw):
    ds = write_table(tmp_path / "a.csv", **kw)
    xr.testing.assert_allclose(load(tmp_path / "a.csv"), ds, rtol=1e-14)


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.CSV", "a.csv.gz", "a.TSV.GZ", "run.1.txt.gz"])
def test_tables_by_other_names(tmp_path, name):
    ds = write_table(tmp_path / name, compression="gzip" if name.lower().endswith("gz") else None)
    xr.testing.assert_allclose(load(tmp_path / name), ds, rtol=1e-14)


REMARKS = {
    "above": "# made by hand\n# on a Monday, at 9\n\nx,t,u\n",
    "above and below": "% made by hand\nx,t,u\n% m,s,K\n",
    "hidden names": "# made by hand\n#\n# x,t,u\n",
    "only hidden names": "%x,t,u\n",
    "none": "x,t,u\n",
    "blank lines": "\n\n  \nx,t,u\n\n",
    "spaces": "  # made by hand\n x , t , u \n",
}


@pytest.mark.parametrize("head", REMARKS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_remarks_above_a_table(tmp_path, head, encoding):
    ds = write_table(tmp_path / "a.csv", header=False)
    (tmp_path / "a.csv").write_bytes((REMARKS[head] + (tmp_path / "a.csv").read_text()).encode(encoding))
    xr.testing.assert_allclose(load(tmp_path / "a.csv"), ds, rtol=1e-14)


@pytest.mark.parametrize("head, words", [
    ("# made by hand\n", "1 cells for 3 names, .* below 'made by hand'"),
    ("# m,s,K\n", "has the columns"),
    ("# one\n# two\n", "names 1 column"),
])
def test_remarks_that_are_no_header(tmp_path, head, words):
    write_table(tmp_path / "a.csv", header=False)
    (tmp_path / "a.csv").write_text(head + (tmp_path / "a.csv").read_text())
    with pytest.raises(ValueError, match=words): load(tmp_path / "a.csv")


def test_decimal_commas_are_seen_after_whole_numbers(tmp_path):
    def comma(number): return f"{number:g}".replace(".", ",")
    rows = [f"{i};{j};{comma(i * j / 4 + i)};fine, really\n" for i in range(4) for j in range(3)]
    (tmp_path / "a.csv").write_text("x;t;u;note\n" + "".join(rows))
    assert np.allclose(load(tmp_path / "a.csv", variables="u").u, [[i * j / 4 + i for j in range(3)] for i in range(4)])
    (tmp_path / "b.csv").write_text((tmp_path / "a.csv").read_text().replace(",", ".").replace("fine.", "fine,"))
    assert load(tmp_path / "b.csv", variables="u").identical(load(tmp_path / "a.csv", variables="u"))


def test_gzipped_tables_that_are_damaged_or_swell(tmp_path):
    write_table(tmp_path / "a.csv.gz", compression="gzip")
    whole = (tmp_path / "a.csv.gz").read_bytes()
    damaged = [
        (whole[:-20], "end-of-stream"),
        (whole[:400] + b"?" + whole[401:], "cannot be read as .csv.gz"),
        (b"x,t,u\n", "gzip"),
        (gzip.compress(b"x,t,u\n" + b"0,0,0\n" * 10**6), "swells more than 200 times"),
    ]
    for content, words in damaged:
        (tmp_path / "a.csv.gz").write_bytes(content)
        with pytest.raises(ValueError, match=words): load(tmp_path / "a.csv.gz")
    with pytest.raises(ValueError, match="`chunks` is 'auto', but .csv.gz files are read whole"):
        load(tmp_path / "a.csv.gz", chunks="auto")


def test_rows_of_a_table_may_come_in_any_order(tmp_path):
    def unknown(seed): return ("x", "y", "t"), np.random.default_rng(seed).random((5, 4, 3))
    grid = {"x": np.arange(5.0), "y": np.arange(4.0), "t": np.arange(3.0)}
    plane = xr.Dataset({"u": unknown(0), "v": unknown(1)}, grid)
    rows = plane.to_dataframe().reset_index().sample(frac=1, random_state=0)
    rows[["v", "t", "y", "u", "x"]].to_csv(tmp_path / "a.csv", index=False)
    got = load(tmp_path / "a.csv")
    assert set(got.data_vars) == {"u", "v"}
    assert np.allclose(got.u, plane.u, rtol=1e-14) and np.allclose(got.v, plane.v, rtol=1e-14)
    assert list(load(tmp_path / "a.csv", variables="v").data_vars) == ["v"]


def test_names_in_tables(tmp_path):
    ds = field()
    path, rename = tmp_path / "a.csv", {"position": "x", "T": "u"}
    table = ds.rename(x="position", t="time", u="T").to_dataframe().reset_index()
    table.assign(note="fine").to_csv(path, index=False)
    xr.testing.assert_allclose(load(path, variables="T", rename=rename), ds, rtol=1e-14)
    with pytest.raises(ValueError, match="`note` has 341 cell"): load(path, rename=rename)
    with pytest.raises(ValueError, match="`path` has the columns"): load(path)
    with pytest.raises(ValueError, match="every column needs its own"): load(path, rename=rename | {"note": "u"})


def test_coordinates_of_tables_may_be_rounded_or_computed_twice(tmp_path):
    fine = field().assign_coords(x=np.linspace(0, np.pi, len(x)))
    write_table(tmp_path / "a.csv", fine, float_format="%.5f")
    assert np.abs(load(tmp_path / "a.csv").x - fine.x).max() < 1e-5
    table = field().to_dataframe().reset_index()
    table["t"] += 1e-15 * (np.arange(len(table)) % 3)
    table.to_csv(tmp_path / "b.csv", index=False)
    assert dict(load(tmp_path / "b.csv").sizes) == dict(field().sizes)


@pytest.mark.parametrize("values", [[0, 1, 3, 4], [0.0, 0.1, 0.2, 0.4], [0, 1.0, 2.1, 3.0]])
def test_uneven_tables_are_not_taken_for_rounded_ones(tmp_path, values):
    u = np.random.default_rng(0).random((4, 5))
    uneven = xr.Dataset({"u": (("x", "t"), u)}, {"x": values, "t": np.arange(5.0)})
    write_table(tmp_path / "a.csv", uneven)
    with pytest.raises(ValueError, match="`x` is not uniform"): load(tmp_path / "a.csv")


def small_table(): return "x,t,u\n" + "".join(f"{i},{j},{i * j + i}\n" for i in range(4) for j in range(3))


def with_row(row):
    "The table with another row in place of the fifth."
    return small_table().replace("1,1,2", row)


BAD_TABLES = {
    "": "it is empty",
    "\n \n": "it is empty",
    "x,t,u\n": "no rows",
    "0,1,2\n0,1,3\n": "first line holds the number 0",
    "x|t|u\n0|1|2\n": "names 1 column",
    "x,t,u\n0;1;2\n": "1 cells for 3 names",
    "x,t,u\n0,5,0,5,1,0\n": "6 cells for 3 names",
    "x,t,t\n0,1,2\n": "every column needs its own",
    small_table() + "9,9,9,9\n": "Expected 3 fields in line 13, saw 4",
    small_table().replace("x,t", "a,b"): "has the columns",
    small_table().replace("x,t,u", "x,y,t"): "and unknowns",
    with_row("1,1,two"): "`u` has 1 cell.s. that are no numbers, the first 'two' in row 5",
    with_row("one,1,2"): "`x` has 1 cell",
    with_row(",1,2"): "`x` has 1 cell",
    with_row("inf,1,2"): "`x` has 1 cell",
    with_row("1,1,"): "`u` has 1 of 12 values that are not finite",
    small_table().replace("1,1,2\n", ""): "11 rows for the 12 points .* missing is x = 1, t = 1",
    small_table().removesuffix("3,2,9\n"): "missing is x = 3, t = 2",
    small_table() + "1,1,2\n": "1 row.s. for points that have a row already, the first at x = 1, t = 1",
    with_row("1,2,2"): "have a row already",
    "x,t,u\n1,1,1\n": "an axis needs at least 3",
    small_table().replace("u\n", "u (m)\n"): "rename them",
    "x,t,u\n" + "\0" * 100: "cells for 3 names",
    "plain words in a text\n" * 9: "has the columns",
}


@pytest.mark.parametrize("text", BAD_TABLES)
def test_bad_tables(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=BAD_TABLES[text]) as caught: load(tmp_path / "a.csv")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a.csv").write_bytes(np.random.default_rng(0).bytes(4000))
    with pytest.raises(ValueError, match="cannot be read as .csv"): load(tmp_path / "a.csv")
    (tmp_path / "b.csv").mkdir()
    with pytest.raises(ValueError, match="b.csv', which is a folder"): load(tmp_path / "b.csv")


def test_scattered_points_cost_no_memory(tmp_path):
    points = np.random.default_rng(0).random((20_000, 5))
    np.savetxt(tmp_path / "a.csv", points, delimiter=",", header="x,y,z,t,u", comments="")
    with pytest.raises(ValueError, match=r"20000 rows for the 16\d{16} points"): load(tmp_path / "a.csv")


def test_cells_of_tables_are_never_run(tmp_path):
    (tmp_path / "a.csv").write_text(small_table().replace("1,1,2", "1,1,=cmd|' /C calc'!A0"))
    with pytest.raises(ValueError, match="no numbers"): load(tmp_path / "a.csv")
