"Readers of files that others wrote: MATLAB, netCDF, and tables of all kinds."
import gzip

import numpy as np
import pytest
import xarray as xr
from scipy.io import loadmat, savemat

from fields import field, t, u2, x
from ubic.data.readers import READERS
from ubic.files import load

rng = np.random.default_rng(0)


# --- MATLAB and netCDF ------------------------------------------------------------------------------------------------

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


# --- tables -----------------------------------------------------------------------------------------------------------

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
