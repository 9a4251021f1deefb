"Fields in chunks: the same results as in memory, nothing computed too early, nothing gathered, damaged stores named."
import shutil
import time
import tracemalloc
import warnings

import numpy as np
import pytest
import xarray as xr

import ubic.denoise as denoise
from ubic.denoise import ksvd, noise_level, savgol, savgol2d, svd
from ubic.field import UbicWarning, add_noise, as_field, check_field, compute, is_chunked, plot_field
from ubic.files import load, save_field
from ubic.data import survey as survey_room

dask = pytest.importorskip("dask", reason="fields in chunks need dask")
da = pytest.importorskip("dask.array", reason="fields in chunks need dask")

GRIDS = [
    ((60, 50), "xt", dict(x=13, t=7)),
    ((20, 90), "xt", dict(x=7, t=40)),
    ((24, 20, 30), "xyt", dict(t=6)),
    ((24, 20, 30), "xyt", dict(x=11, y=6, t=-1)),
    ((10, 9, 8, 20), "xyzt", dict(x=5, z=3, t=9)),
    ((6, 5, 70), "xyt", dict(x=4, t=16)),
]


def lengths(value): return "x".join(map(str, value)) if isinstance(value, tuple) else None


grids = pytest.mark.parametrize("shape, dims, chunks", GRIDS, ids=lengths)


def field(shape=(24, 20, 30), dims="xyt", names="uv", dtype=float, seed=0):
    "A few waves and some noise, with known ranks below it."
    axes = {dim: 0.1*np.arange(n) for dim, n in zip(dims, shape)}
    *space, t = np.meshgrid(*axes.values(), indexing="ij", sparse=True)
    phase, rng = sum((i + 1)*x for i, x in enumerate(space)), np.random.default_rng(seed)
    waves = {name: sum(np.sin((k + i)*phase)*np.cos(k*t)/k for k in (1, 2, 3)) for i, name in enumerate(names)}
    noisy = {name: (u + 0.05*rng.standard_normal(shape)).astype(dtype) for name, u in waves.items()}
    return xr.Dataset({name: (tuple(dims), u) for name, u in noisy.items()}, axes)


def apart(one, other):
    "Largest difference between two fields, relative to the second."
    return max(float(np.abs(one[name] - other[name]).max() / np.abs(other[name]).max()) for name in other.data_vars)


def watched(ds, chunks):
    "The field in chunks, and a list of the shapes of all chunks made of it."
    made = []
    def note(block):
        made.append(block.shape)
        return block
    def noted(u): return u.copy(data=u.data.map_blocks(note, dtype=u.dtype, meta=np.empty((0,)*u.ndim, u.dtype)))
    return ds.chunk(chunks).map(noted), made


class Largest(dask.callbacks.Callback):
    "The most numbers that any task of the schedulers returned."
    def __init__(self):
        self.size = 0
        super().__init__(posttask=self.note)

    def note(self, key, result, *rest):
        parts = result if isinstance(result, (list, tuple)) else [result]
        self.size = max(self.size, sum(getattr(part, "size", 0) for part in parts))


# --- the check ------------------------------------------------------------------------------------------------------

def test_is_chunked():
    ds = field()
    assert not is_chunked(ds) and not is_chunked(ds.u) and is_chunked(ds.chunk()) and is_chunked(ds.chunk().u)
    assert is_chunked(ds.assign(v=ds.v.chunk()))


@grids
def test_check_reads_every_chunk_once_and_gathers_nothing(shape, dims, chunks):
    ds, made = watched(field(shape, dims), chunks)
    with Largest() as largest: checked = check_field(ds)
    assert is_chunked(checked) and len(made) == 2*ds.u.data.npartitions
    assert largest.size <= max(np.prod(block) for block in made)
    check_field(checked)
    assert len(made) == 2*ds.u.data.npartitions, "known fields are not read again"


@grids
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_place_of_the_first_value_that_is_not_finite(shape, dims, chunks, value):
    ds = field(shape, dims)
    for place in (tuple(n - 1 for n in shape), tuple(n // 2 for n in shape)): ds.v[place] = value
    said = []
    for data in (ds, ds.chunk(chunks)):
        with pytest.raises(ValueError, match="2 of .* not finite") as caught: check_field(data)
        said.append(str(caught.value))
    assert said[0] == said[1]


def test_flat_axes_are_found_in_chunks():
    ds = field(names="u")
    steady = ds.isel(t=0, drop=True).expand_dims(t=ds.t)
    with pytest.raises(ValueError, match="does not change along t"): check_field(steady.chunk(x=7))
    with pytest.raises(ValueError, match="constant"): check_field((0*ds + 3).chunk(x=7))
    level = ds.isel(y=0, drop=True).expand_dims(y=ds.y).chunk(x=7)
    for _ in range(2): # the second time from what is known
        with pytest.warns(UbicWarning, match="does not vary along y"): check_field(level)
    hidden = ds.u.isel(y=0, drop=True).expand_dims(y=ds.y).copy()
    hidden[5] += 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_field(hidden.to_dataset(name="u").transpose("x", "y", "t").chunk(x=7))


def test_complex_in_chunks():
    ds = field(names="u")
    both = check_field((ds + 1j*ds**2).chunk(t=7))
    assert list(both.data_vars) == ["ure", "uim"] and is_chunked(both) and np.array_equal(both.uim, ds.u**2)
    with pytest.warns(UbicWarning, match="negligible"): real = check_field((ds + 1e-14j).chunk(t=7))
    assert list(real.data_vars) == ["u"]


def test_chunks_that_cannot_be_had_are_one_sentence():
    def fail(block): raise KeyError("disk")
    ds = field(names="u").chunk(t=7)
    broken = ds.map(lambda u: u.copy(data=u.data.map_blocks(fail, dtype=float, meta=np.empty((0, 0, 0)))))
    for call in (lambda: check_field(broken), lambda: compute(broken.u.mean(), "u")):
        with pytest.raises(ValueError, match="`u` cannot be computed from its chunks .*disk"): call()


# --- noise ----------------------------------------------------------------------------------------------------------

@grids
def test_noise_does_not_depend_on_the_scheduler(shape, dims, chunks):
    ds = field(shape, dims)
    noisy = add_noise(ds.chunk(chunks), 30, seed=3)
    with dask.config.set(scheduler="threads", num_workers=4): one = noisy.compute()
    with dask.config.set(scheduler="synchronous"): other = add_noise(ds.chunk(chunks), 30, seed=3).compute()
    assert is_chunked(noisy) and noisy.u.data.chunks == ds.chunk(chunks).u.data.chunks
    assert one.identical(other)
    assert not one.equals(add_noise(ds.chunk(chunks), 30, seed=4).compute())
    noise = (one - ds)/ds.std()
    assert all(abs(float(noise[name].std()) - 0.3) < 0.03 for name in "uv")
    assert abs(np.corrcoef(noise.u.values.ravel(), noise.v.values.ravel())[0, 1]) < 0.1


def test_noise_of_other_seeds_sizes_and_precisions():
    ds = field()
    one, other = (add_noise(ds.chunk(t=6), 10, seed=np.random.default_rng(5)).compute() for _ in range(2))
    assert one.identical(other) and is_chunked(add_noise(ds.chunk(t=6), 10, seed=np.random.RandomState(0)))
    pair = ds.assign(v=0.01*ds.v)
    error = add_noise(pair.chunk(t=6), 10, joint=True).compute() - pair
    assert 0.9 < float(error.u.std()/error.v.std()) < 1.1
    assert add_noise(field(dtype="float32").chunk(t=6), 10).compute().u.dtype == np.float32
    assert add_noise(ds.chunk(t=6), 0).compute().u.equals(ds.u)
    mixed = add_noise(ds.assign(v=ds.v.chunk(t=6)), 10)
    assert set(mixed.data_vars) == {"u", "v"} and not mixed.compute().u.equals(ds.u)


# --- denoising ------------------------------------------------------------------------------------------------------

METHODS = {
    "savgol x": lambda ds: savgol(ds, 5),
    "savgol t": lambda ds: savgol(ds, 9, 3, dim="t"),
    "savgol2d": lambda ds: savgol2d(ds, 5),
    "savgol2d order 3": lambda ds: savgol2d(ds, 5, 3),
    "svd": lambda ds: svd(ds, {"u": 3, "v": 4}),
    "svd whole": lambda ds: svd(ds, 20),
}


@grids
@pytest.mark.parametrize("method", METHODS)
def test_denoising_equals_that_in_memory(shape, dims, chunks, method, monkeypatch):
    if "2d" in method and "y" not in dims: pytest.skip("no plane")
    monkeypatch.setattr(denoise, "PIECE_BYTES", 2**14)
    ds = field(shape, dims)
    ours, theirs = METHODS[method](ds.chunk(chunks)), METHODS[method](ds)
    assert is_chunked(ours.u) and is_chunked(ours.v) and apart(ours, theirs) < 1e-10
    assert ours.attrs == theirs.attrs and ours.u.dtype == theirs.u.dtype
    assert ours.u.data.npartitions >= ds.u.chunk(chunks).data.npartitions / 4


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_stays(method):
    ds = field(dtype="float32")
    ours = METHODS[method](ds.chunk(x=9, t=7))
    assert ours.u.dtype == ours.u.values.dtype == np.float32 and apart(ours, METHODS[method](ds)) < 1e-5


CUT = [((80, 30), (25, 30)), ((80, 30), (80, 7)), ((30, 80), (11, 13)), ((8, 10, 30), (3, 10, 9))]


@pytest.mark.parametrize("shape, chunks", CUT)
def test_small_singular_values_take_the_accurate_route(shape, chunks, monkeypatch):
    monkeypatch.setattr(denoise, "PIECE_BYTES", 2**12)
    rng, places = np.random.default_rng(0), int(np.prod(shape[:-1]))
    left, right = (np.linalg.qr(rng.standard_normal((n, 12)))[0] for n in (places, shape[-1]))
    values = np.geomspace(1, 1e-12, 12)
    dims = "xt" if len(shape) == 2 else "xyt"
    u = ((left*values) @ right.T).reshape(shape)
    ds = xr.Dataset({"u": (tuple(dims), u)}, {dim: np.arange(n) for dim, n in zip(dims, shape)})
    kept = ((left[:, :9]*values[:9]) @ right[:, :9].T).reshape(shape)
    exact = svd(ds, 9).u.values
    assert np.abs(exact - kept).max() < 1e-14
    assert np.abs(svd(ds.chunk(dict(zip(dims, chunks))), 9).u.compute().values - exact).max() < 1e-14


def test_noise_level_equals_that_in_memory(monkeypatch):
    for most in (10**9, 3000, 200):
        monkeypatch.setattr(survey_room.sampled_places, "__defaults__", (most,))
        for shape, dims, chunks in GRIDS[::2]:
            ds = field(shape, dims)
            assert np.prod([len(places) for places in survey_room.sampled_places(shape)]) <= most
            assert noise_level(ds.chunk(chunks)) == pytest.approx(noise_level(ds), rel=1e-12)
            if most > 1000: assert noise_level(ds)["u"] == pytest.approx(0.05, rel=0.3)


def test_filters_are_plans():
    ds, made = watched(field(), dict(t=6))
    ds = check_field(ds)
    before = len(made)
    plans = [savgol(ds, 5), savgol(ds, 5, dim="t"), savgol2d(ds, 5)]
    assert len(made) == before
    plans[2].u.isel(t=0).compute()
    assert len(made) == before + 1, "one frame takes one chunk"
    truncated = svd(ds, 3)
    before = len(made)
    truncated.compute()
    assert len(made) == before, "patterns and histories are known"


LARGE = [(dict(t=4), (120, 100, 400)), (dict(x=10, y=20), (240, 100, 200))]


@pytest.mark.parametrize("chunks, sizes", LARGE, ids=["frames", "places"])
@pytest.mark.parametrize("method", ["savgol x", "savgol t", "savgol2d", "svd", "noise"])
def test_memory_stays_far_below_the_field(chunks, sizes, method, monkeypatch):
    "A field of 38 megabytes that exists only as a plan."
    monkeypatch.setattr(denoise, "PIECE_BYTES", 2**22)
    sizes = dict(zip("xyt", sizes))
    axes = {dim: np.arange(n)*0.1 for dim, n in sizes.items()}
    def block(block_info=None):
        bounds = block_info[None]["array-location"]
        x, y, t = np.ix_(*(axes[dim][low:high] for dim, (low, high) in zip(axes, bounds)))
        return np.sin(x + 2*y)*np.cos(t) + np.sin(2*x - y)*np.sin(3*t)
    wanted = {i: chunks.get(dim, -1) for i, dim in enumerate(sizes)}
    layout = tuple(da.core.normalize_chunks(wanted, tuple(sizes.values()), dtype=float))
    u = da.map_blocks(block, chunks=layout, dtype=float, meta=np.empty((0, 0, 0)))
    ds = xr.Dataset({"u": (tuple(sizes), u)}, axes)
    run = {"noise": lambda ds: add_noise(ds, 10), "svd": lambda ds: svd(ds, 2)}.get(method) or METHODS[method]
    with dask.config.set(scheduler="synchronous"), Largest() as largest:
        float(run(field().chunk(t=10)).u.mean()) # everything is imported and compiled before memory is looked at
        tracemalloc.start()
        try:
            float(run(ds).u.mean())
            peak = tracemalloc.get_traced_memory()[1]
        finally: tracemalloc.stop()
    assert largest.size <= u.size / 4 and peak < u.nbytes / 2, (largest.size / u.size, peak / u.nbytes)


def test_what_needs_memory_says_so():
    with pytest.raises(ValueError, match=r"`field` is in chunks.*field\.load\(\).*savgol"):
        ksvd(field((40, 50), "xt").chunk(t=10))
    assert ksvd(field((40, 50), "xt", "u").chunk(t=10).load()).u.shape == (40, 50)


# --- pictures -------------------------------------------------------------------------------------------------------

def test_pictures_take_only_what_they_show():
    pytest.importorskip("matplotlib").use("Agg")
    ds, made = watched(field(names="u"), dict(t=3))
    plot_field(ds)
    assert len(made) == 4
    long = field((30, 3000), "xt", "u")
    ds, made = watched(long, dict(t=1000))
    assert plot_field(ds).collections[0].get_array().size <= 30*1000
    plot_field(long)


# --- files ----------------------------------------------------------------------------------------------------------

@pytest.fixture
def store(tmp_path):
    pytest.importorskip("zarr", reason="stores need zarr")
    return save_field(field().chunk(x=12, t=10), tmp_path / "a.zarr")


@pytest.mark.parametrize("name", ["a.zarr", "a.nc"])
@pytest.mark.parametrize("chunks", [dict(t=10), dict(x=(10, 4, 10), t=(7, 20, 3))], ids=["even", "uneven"])
def test_round_trip(tmp_path, name, chunks):
    pytest.importorskip("zarr", reason="stores need zarr")
    pytest.importorskip("h5netcdf", reason="files need h5netcdf")
    ds = field().assign_attrs(pde='{"u": {"u_xx": 1.0}}', noise_percent=np.float64(3), numbers=[1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path = save_field(ds.chunk(chunks), tmp_path / name)
        again = load(path, chunks="auto")
    assert is_chunked(again) and again.equals(ds)
    assert again.attrs["pde"] == ds.attrs["pde"] and list(again.attrs["numbers"]) == [1, 2]
    assert save_field(2*ds.chunk(chunks), path) == path and load(path, chunks="auto").equals(2*ds), "written over"
    assert save_field(ds, path) == path and load(path).equals(ds), "from memory"
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_saving_over_the_store_that_is_read(store):
    save_field(2*load(store), store)
    assert load(store).equals(2*field())


def test_chunks_asked_for(store):
    assert load(store).u.data.chunksize == (12, 20, 10)
    assert load(store, chunks={"t": 20}).u.data.chunksize == (12, 20, 20)


def save_over_folder(path):
    "Save where a folder is in the way."
    folder = path.with_suffix(".nc")
    folder.mkdir()
    return save_field(field().chunk(t=3), folder)


@pytest.mark.parametrize("call, kind, words", [
    (lambda path: load(path, chunks="small"), TypeError, "`chunks` is 'small'"),
    (lambda path: load(path, chunks=7), TypeError, "`chunks` is 7"),
    (lambda path: load(path, chunks={"t": 0}), ValueError, r"`chunks\['t'\]` is 0"),
    (lambda path: load(path, chunks={"space": 3}), ValueError, "space"),
    (lambda path: load(save_field(field(), path.with_name("b.npz")), chunks="auto"), ValueError,
     r"\.npz files are read whole"),
    (lambda path: save_field(field().chunk(t=3), path.with_name("b.npz")), ValueError, r"in chunks.*field\.load\(\)"),
    (lambda path: save_field(field().chunk(t=3), path.with_name("b.txt")), ValueError, r"\.npz, \.nc or \.zarr"),
    (lambda path: save_field(field().chunk(t=3), path.parent / "none" / "b.zarr"), ValueError, "no folder"),
    (save_over_folder, ValueError, "is a folder"),
    (lambda path: save_field(field().assign_attrs(f=print), path), TypeError, "`field.attrs` holds"),
    (lambda path: save_field(field().assign_attrs(f={"a": 1}), path.with_name("b.nc")), TypeError,
     "netCDF cannot keep"),
])
def test_files_asked_for_wrongly(store, call, kind, words):
    with pytest.raises(kind, match=words): call(store)


def test_without_dask(store, monkeypatch):
    def without(wanted):
        if wanted.startswith("dask"): raise ImportError(wanted)
        return __import__(wanted)
    monkeypatch.setattr("ubic.ground.runtime.import_module", without)
    with pytest.raises(ImportError, match=r"ubic\[dask\]"): load(store, chunks="auto")


def test_failure_while_writing_leaves_the_old_store(store):
    def fail(block, block_id=None):
        if failing and block_id[-1] == 2: raise RuntimeError("power cut")
        if failing: time.sleep(0.05) # at work when the other one fails
        return block
    failing = False
    def failing_later(u): return u.copy(data=u.data.map_blocks(fail, dtype=float, meta=np.empty((0, 0, 0))))
    ds = check_field(field().chunk(t=10).map(failing_later))
    failing = True
    for name in ("a.zarr", "b.nc"):
        with pytest.raises(ValueError, match="power cut"): save_field(ds, store.with_name(name))
    assert load(store).equals(field()) and [path.name for path in store.parent.iterdir()] == ["a.zarr"]


# --- stores cut short -----------------------------------------------------------------------------------------------

def damaged(store, action, name="u/1.0.1"):
    path = store / name
    if action: path.write_bytes(action(path.read_bytes()))
    else: path.unlink()
    return store


@pytest.mark.parametrize("chunks", [None, "auto"])
def test_missing_chunks(store, chunks):
    missing = damaged(store, None)
    with pytest.raises(ValueError, match=r"a\.zarr.*`u` has only 5 of its 6 chunks"): load(missing, chunks=chunks)


CUTS = [lambda content: content[:40], lambda content: b"", lambda content: content[:-8]]


@pytest.mark.parametrize("action", CUTS, ids=["head", "empty", "tail"])
def test_chunks_cut_short(store, action):
    load(store) # what was known of the store is not believed
    with pytest.raises(ValueError, match=r"a\.zarr.*`u, v` cannot be computed"): load(damaged(store, action))


def test_coordinates_cut_short(store):
    with pytest.raises(ValueError, match="`t` has only 0 of its 1 chunks"): load(damaged(store, None, "t/0"))


@pytest.mark.parametrize("action", [lambda content: content[:40], lambda content: b""])
def test_metadata_cut_short(store, action):
    with pytest.raises(ValueError, match=r"a\.zarr.*cannot be read"): load(damaged(store, action, ".zmetadata"))


def test_unknown_gone(store):
    shutil.rmtree(store / "v")
    with pytest.raises(ValueError, match="`v` has only 0 of its 6 chunks"): load(store)


@pytest.mark.parametrize("level", [2, 3])
def test_other_formats_and_uncompressed_chunks(tmp_path, level):
    pytest.importorskip("zarr", reason="stores need zarr")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = {"compressors": None} | ({"fill_value": np.nan} if level == 3 else {})
        layout = dict(zarr_format=level, consolidated=False, encoding=dict.fromkeys("uv", plain))
        field().chunk(t=10).to_zarr(tmp_path / "a.zarr", **layout)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(tmp_path / "a.zarr").equals(field())
    chunk = tmp_path / "a.zarr" / {2: "u/0.0.1", 3: "u/c/0/0/1"}[level]
    chunk.write_bytes(chunk.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"a\.zarr.*cannot be computed"): load(tmp_path / "a.zarr")
    chunk.unlink()
    with pytest.raises(ValueError, match="`u` has only 2 of its 3 chunks"): load(tmp_path / "a.zarr")


def test_chunks_left_out_on_purpose_are_a_warning(tmp_path):
    zarr = pytest.importorskip("zarr", reason="stores need zarr")
    ds = field(names="u")
    ds.u[:, :, :10] = 0
    encoding = {"_FillValue": 0.0, "chunks": (24, 20, 10), "write_empty_chunks": False}
    ds.to_zarr(tmp_path / "a.zarr", zarr_format=2, encoding={"u": encoding})
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    if group["u"].nchunks_initialized == 3: (tmp_path / "a.zarr" / "u" / "0.0.0").unlink()
    with pytest.warns(UbicWarning, match="`u` has only 2 of its 3 chunks, and the others read as 0"):
        try: load(tmp_path / "a.zarr")
        except ValueError as error: assert "not finite" in str(error) # xarray takes fill values for missing ones


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_netcdf_cut_short(tmp_path, share, engine):
    pytest.importorskip("h5netcdf", reason="files need h5netcdf")
    field().to_netcdf(tmp_path / "a.nc", engine=engine)
    whole = (tmp_path / "a.nc").read_bytes()
    (tmp_path / "a.nc").write_bytes(whole[:int(share*len(whole))])
    with pytest.raises(ValueError, match=r"a\.nc"): load(tmp_path / "a.nc", chunks="auto")


# --- several grids --------------------------------------------------------------------------------------------------

u = field(names="u").u


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("other, words", [
    (u.isel(x=slice(None, None, 2)),
     "`v` is on another grid: its x has 12 points from 0 to 2.2, that of `u` has 24 points from 0 to 2.3"),
    (u.assign_coords(t=u.t + 0.05), "`v` is on another grid: its t has 30 points"),
    (u.isel(y=slice(0, 10)).drop_vars("y"), "`v` is on another grid: its y has 10 points"),
    (u.isel(t=0, drop=True), r"`v` has axes \('x', 'y'\); every unknown and every known field must have all of"),
    (u.rename(x="X"), r"`field` has axes \['X'\]"),
])
def test_known_fields_on_another_grid(other, words, chunked):
    one = u.chunk(t=5) if chunked else u
    with pytest.raises(ValueError, match=words): as_field({"u": one, "v": other})


def test_known_fields_on_the_same_grid():
    unknowns = {"u": u, "v": u.transpose("t", "y", "x"), "w": u.drop_vars("t"), "z1": u.values}
    assert as_field(unknowns, dims=("x", "y", "t")).z1.equals(u.rename("z1"))
    with pytest.raises(ValueError, match="`u` is on another grid.*the coordinates given"):
        as_field({"u": u}, x=u.x.values + 1)
