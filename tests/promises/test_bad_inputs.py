"""Inputs that must not surprise anyone, row by row of one table.

What is refused, what is warned about, and what is accepted.
"""
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.io import savemat
from sentences import one_sentence

from ubic import datasets
from ubic.criterion import select
from ubic.denoise import dct_dictionary, ksvd, learn_dictionary, noise_level, omp_code, plot_dictionary
from ubic.denoise import savgol, savgol2d, svd
from ubic.estimator import UBICRegressor
from ubic.field import UbicWarning, add_noise, as_field, check_field, plot_field, spacing
from ubic.files import load, save_field
from ubic.library import strong, weak
from ubic.pipeline import Discovery, discover
from ubic.posterior import evidence, posterior
from ubic.refit import total_least_squares
from ubic.report import write_report
from ubic.saving import load_result, save_result
from ubic.solvers import mixed_integer
from ubic.spectral import simulate
from ubic.subsets import best_subsets
from ubic.system import LinearSystem, from_triangle
from ubic.terms import candidates, coefficient_error
from ubic.widgets import explore

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning") # those beside the one that is looked for
ROWS = range(1, 46)

rng = np.random.default_rng(0)
x, t = np.linspace(0, 10, 80), np.linspace(0, 2, 60)
u = np.sin(x[:, None] - t) + 0.4*np.sin(2*x[:, None] + t)
field, two = as_field(u, x=x, t=t), as_field({"u": u, "v": u**2}, x=x, t=t)
steady, decay = np.repeat(np.sin(x)[:, None], 60, 1), np.repeat(np.exp(-t)[None], 80, 0)
X, noise = rng.standard_normal((50, 4)), rng.standard_normal(50)
y = X @ [1.0, 0, -2.0, 0] + 0.1*noise
plain = best_subsets(LinearSystem(X, y))
found = Discovery({"u": select(plain)}, field, field)
circle = np.arange(32)*2*np.pi/32


def grid(data=u, **changes): return as_field(data, **{"x": x, "t": t, **changes})
def system(**changes): return LinearSystem(**{"X": X, "y": y, **changes})
def with_value(value): return np.where((x[:, None] == x[4]) & (t == t[5]), value, u)
def with_column(column): return np.column_stack([X, column])
def where(values, i, value): return np.where(np.arange(len(values)) == i, value, values)
def perfect(mode): return select(best_subsets(LinearSystem(X, X @ [1.0, 0, -2.0, 0])), mode=mode)
def hopeless(mode): return select(best_subsets(LinearSystem(X[:, :2], 1e3*noise)), mode=mode)
def names(found): return list(map(str, found.terms))
def start(value=np.sin): return xr.Dataset({"u": ("x", value(circle))}, {"x": circle})


def torn():
    "A field that was reshaped where it should have been transposed."
    s, w = np.linspace(-8, 8, 120)[:, None], np.linspace(0, 10, 251)
    wave = np.exp(-(s + 5 - w)**2) + 0.6*np.exp(-(s - 0.4*w)**2/2)
    return as_field(wave.T.reshape(wave.shape), x=s.ravel(), t=w)


def one_wave():
    s, w = np.arange(64)*2*np.pi/64, np.linspace(0, 2, 60)
    return discover(as_field(np.sin(s[:, None] - w), x=s, t=w), derivative_order=3, power=1)["u"]


def written(name, content):
    "The name of a file in the current folder, after writing to it."
    Path(name).write_bytes(content)
    return name


def saved(name, keep=None):
    "The name of a file with a field, of which only so many bytes are kept."
    if name.endswith(".npz"): save_field(field, name)
    elif name.endswith(".nc"): field.to_netcdf(name, engine="scipy")
    else: savemat(name, {"u": u, "x": x, "t": t})
    return written(name, Path(name).read_bytes()[:keep])


def structured(name):
    "The name of a MATLAB file with a structure, of version 5 or 7.3."
    if name == "a.mat": savemat(name, {"run": {"u": u, "x": x, "t": t}, "note": "text"})
    else:
        with pytest.importorskip("h5py").File(name, "w", userblock_size=512) as file:
            for place, values in (("run/u", u), ("run/x", x), ("#refs#/a", t)): file[place] = values
    return name


def written_nc(ds):
    ds.to_netcdf("a.nc", engine="scipy")
    return "a.nc"


def archived(**arrays):
    np.savez("a.npz", **arrays)
    return "a.npz"


def without(package, call):
    "What is done where a package is not installed."
    def run():
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            return call()
    return run


def trained(*lost):
    "A short training whose loss is not finite at these measurements."
    def run():
        pytest.importorskip("torch")
        from ubic import networks
        losses, calls = networks.Training.measure, []
        def measure(self):
            calls.append(1)
            return [np.nan, np.nan] if len(calls) in lost else losses(self)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(networks.Training, "measure", measure)
            first = start(lambda s: np.exp(np.cos(s) - 1))
            data = simulate({"u_xx": 0.1}, first, np.linspace(0, 4, 21))
            return networks.pinn({"u_xx": 0.15}, data, layers=(5, 5), epochs=4, iterations=30)
    return run


def cache_cut_short():
    "The Burgers field, after the file in which it was kept lost its end."
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UBIC_CACHE", "cache")
        whole = datasets.burgers()
        [path] = Path("cache").iterdir()
        path.write_bytes(path.read_bytes()[:-2000])
        return datasets.burgers(), whole


@dataclass
class Refused:
    kind: type # of the exception
    words: str # of its message

    def check(self, call):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UbicWarning)
            with pytest.raises(self.kind, match=self.words) as caught: call()
        message = str(caught.value)
        if self.kind is ImportError: assert "\n" not in message
        else:
            one_sentence(message)
            assert "`" in message and re.search(ADVICE, message), f"about what, and what to do? {message}"


@dataclass
class Warned:
    words: str # of the warning
    holds: object # of the result

    def check(self, call):
        with pytest.warns(UbicWarning, match=self.words) as caught: result = call()
        assert self.holds(result)
        for warning in caught: one_sentence(str(warning.message))


@dataclass
class Accepted:
    holds: object # of the result

    def check(self, call):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert self.holds(call())


ADVICE = r"; |: there is nothing to identify| must "
E, K, W, A = ValueError, TypeError, Warned, Accepted

TABLE = { # row → label → what is done, and what is to be expected
    1: {
        "NaN in a field": (
            lambda: grid(with_value(np.nan)), E,
            r"`u` has 1 of 4800 values .* nan at x\[4\] = 0.506329, t\[5\] = 0.169492",
        ),
        "NaN in a matrix": (lambda: system(X=np.where(X == X[3, 2], np.nan, X)), E, r"`X` has 1 values.*NaN.*\(3, 2\)"),
        "NaN in a posterior": (lambda: posterior(X*np.nan, y, 0.1), E, "`R`.*NaN"),
        "NaN for the K-SVD": (
            lambda: ksvd(field.where(field.x > 0.5)), E, "`u` has 240 of 4800 values that are not finite",
        ),
        "NaN for the noise level": (lambda: noise_level(field.where(field.x > 0.5)), E, "not finite"),
        "NaN as a coordinate": (
            lambda: grid(x=where(x, 3, np.nan)), E, "`x` has 1 values that are not finite, the first at index 3",
        ),
        "values whose powers overflow": (
            lambda: discover(field*1e160), E, "`u` has values of size .e.160, whose powers",
        ),
        "an axis whose powers vanish": (
            lambda: discover(field.assign_coords(x=1e-160*field.x)), E, "`x` is .e-1.* long",
        ),
        "an axis whose powers overflow": (
            lambda: discover(field.assign_coords(t=1e160*field.t)), E, "`t` is .e.1.* long",
        ),
        "NaN in the imaginary part": (
            lambda: grid(np.array(list(map(complex, u.ravel(), with_value(np.nan).ravel()))).reshape(u.shape)), E,
            "`uim` has 1 of 4800",
        ),
    },
    2: {
        "infinity in a field": (lambda: grid(with_value(-np.inf)), E, r"-inf at x\[4\]"),
        "infinity in a target": (lambda: system(y=np.where(y == y[7], np.inf, y)), E, r"`y` has 1 values.*\(7,\)"),
        "too large to be squared": (
            lambda: system(X=X*1e200), E, "the values of `x0` are of size 7e.200, beyond what can be squared safely",
        ),
    },
    3: {
        "negligible imaginary part": (
            lambda: grid(u + 1e-14j),
            W("negligible imaginary part", lambda ds: np.array_equal(ds.u, u)),
        ),
    },
    4: {
        "two real unknowns": (
            lambda: grid({"psi": u*(1 + 2j)}),
            A(lambda ds: list(ds.data_vars) == ["psire", "psiim"] and np.allclose(ds.psiim, 2*ds.psire)),
        ),
        "names that are taken": (
            lambda: grid({"u": u*(1 + 2j), "ure": u}), E, r"`u` is complex.*has \['ure'\] already",
        ),
        "complex matrix": (lambda: system(X=X + 1j), K, "`X` must hold real numbers, found dtype complex128"),
    },
    5: {
        "whole numbers": (
            lambda: grid((100*u).astype(int), x=np.arange(80, dtype="uint8")),
            A(lambda ds: ds.u.dtype == float and spacing(ds, "x") == 1),
        ),
        "bytes that descend": (
            lambda: grid(x=np.arange(80, dtype="uint8")[::-1]),
            W("`x` descends from 79 to 0", lambda ds: spacing(ds, "x") == 1 and np.array_equal(ds.u, u[::-1])),
        ),
    },
    6: {
        "objects": (lambda: grid(u.astype(object)), K, "`u` holds values of type object"),
        "texts": (lambda: grid(u.astype(str)), K, "`u` holds values of type <U"),
        "texts as coordinates": (
            lambda: grid(t=[str(value) for value in t]), K, "`t` holds values of type <U.*real numbers",
        ),
        "texts in a matrix": (lambda: system(X=X.astype(str)), K, "`X` must hold real numbers"),
        "ragged lists": (lambda: as_field([[1, 2, 3], [4, 5]], x=x, t=t), E, "`u` cannot be made an array"),
    },
    7: {
        "transposed": (lambda: grid(u.T), E, r"`data` has shape \(60, 80\).*did you mean transpose\(1, 0\)\?"),
        "too short": (lambda: grid(u[:, :-1]), E, r"have lengths \(80, 60\); give one coordinate array for each axis"),
        "an axis without coordinates": (lambda: as_field(u, x=x), E, "`data` has shape"),
        "no coordinates": (
            lambda: as_field(u), E, r"`data` has shape \(80, 60\) and no coordinates for its axes; give them",
        ),
        "an unknown that is nothing": (lambda: as_field({"u": None}), E, r"`data` has shape \(\) and no coordinates"),
        "nothing": (lambda: as_field(None), K, "`data` is None; give the numbers as an array"),
        "one number": (lambda: as_field(3, x=x, t=t), K, "`data` is 3; give the numbers as an array"),
        "name of a file": (lambda: as_field("a.csv"), K, "`data` is 'a.csv'; .* to ubic.load"),
        "an axis of another name": (lambda: as_field(u, x=x, q=t), E, "`q` is not an axis"),
        "two-dimensional coordinates": (lambda: grid(x=x[:, None] + 0*t), E, r"`x` has shape \(80, 60\)"),
        "labels of another length": (
            lambda: as_field(field, x=x[:-1]), E, "`x` has 79 values but the data have lengths",
        ),
        "rows of matrix and target": (lambda: system(y=y[:-1]), E, "`X` has 50 rows and `y` has 49"),
        "one column without rows": (lambda: system(X=y), E, "`X` must have rows and columns"),
    },
    8: {
        "square grid": (
            lambda: grid(u[:60], x=x[:60]), E,
            r"axes of equal length cannot be told apart; name them, for instance `?dims=\('x', 't'\)",
        ),
        "square grid in a file": (lambda: load(archived(u=u[:60], x=x[:60], t=t)), E, "`dims` is needed"),
    },
    9: {
        "other order, named": (lambda: as_field(u.T, dims=("t", "x"), x=x, t=t), A(lambda ds: np.array_equal(ds.u, u))),
        "other order, labelled": (lambda: check_field(field.transpose("t", "x")), A(lambda ds: ds.identical(field))),
    },
    10: {"reshaped": (torn, W("check that it was transposed, not reshaped", lambda ds: ds.u.shape == (120, 251)))},
    11: {
        "descending": (
            lambda: grid(u[::-1], x=x[::-1]),
            W("`x` descends from 10 to 0; it was reversed", lambda ds: ds.identical(field)),
        ),
    },
    12: {
        "unsorted": (
            lambda: grid(x=x[[1, 0, *range(2, 80)]]),
            E, "`x` is not sorted: 0.126582 is followed by 0; sort it together with the data",
        ),
    },
    13: {"repeated": (lambda: grid(x=where(x, 3, x[2])), E, r"`x` repeats the values \[0.25316455")},
    14: {"uneven": (lambda: grid(x=x**2), E, "`x` is not uniform: 25.6369 at index 40 is 25 away from an even grid")},
    15: {
        "uneven by rounding": (
            lambda: grid(x=x + 1e-8*np.sin(7*x)),
            A(lambda ds: abs(spacing(ds, "x") - 10/79) < 1e-8),
        ),
    },
    16: {
        "one time": (lambda: grid(u[:, :1], t=t[:1]), E, r"`t` has 1 point\(s\); an axis needs at least 3"),
        "one time to denoise": (lambda: ksvd(field.isel(t=[0])), E, r"`t` has 1 point"),
        "few points to simulate": (
            lambda: simulate({"u_xx": 1}, start().isel(x=slice(7)), [0, 1]), E,
            "`initial` has 7 points along x; at least 8",
        ),
    },
    17: {
        "axis too short for boxes": (
            lambda: weak(field.isel(t=slice(0, 15))), E, "along `t` reach over 4 .*at least 17 points, found 15",
        ),
        "axis too short for differences": (
            lambda: strong(field.isel(t=slice(0, 4))), E, "axis has 4 points.*`accuracy=4`.*at least 6",
        ),
        "one point short for differences": (
            lambda: strong(field.isel(t=slice(0, 5))), E, "axis has 5 points.*at least 6",
        ),
        "crop of everything": (lambda: strong(field, crop=40), E, "`crop` is 40"),
    },
    18: {
        "fewer rows than candidates": (lambda: system(X=X[:4], y=y[:4]), E, "`X` has 4 rows for 4 candidates"),
        "fewer boxes than candidates": (lambda: weak(field, rows=5), E, "`rows` is 5 for 8 candidates"),
        "fewer boxes, other form": (lambda: weak(field, rows=5, form="pysindy"), E, "`rows` is 5 for 8 candidates"),
        "boxes too wide to leave rows": (
            lambda: weak(field, half_width={"x": 4.93, "t": 0.98}), E, "`X` has . rows for 8 candidates",
        ),
    },
    19: {
        "no boxes": (lambda: weak(field, rows=0), E, "`rows` is 0; give a whole number"),
        "negative boxes": (lambda: weak(field, rows=-3), E, "`rows` is -3; give a whole number"),
        "fractional boxes": (lambda: weak(field, rows=99.5), E, "`rows` is 99.5; give a whole number"),
        "boxes in words": (lambda: weak(field, rows="many"), E, "`rows` is 'many'; give a whole number"),
        "more boxes than fit": (lambda: weak(field, rows=10**7), E, "`rows` is 10000000, but this field has room for"),
    },
    20: {
        "order below the derivative": (lambda: weak(field, order=1), E, "`order` along x is 1.*at least 2"),
        "order below the derivative, other form": (
            lambda: weak(field, order=1, form="pysindy"), E, "`order` along x is 1.*at least 2",
        ),
        "order zero in time": (lambda: weak(field, order={"t": 0}), E, "`order` along t is 0.*at least 1"),
        "order said yes to": (lambda: weak(field, order=True, derivative_order=1), E, "`order` along x is True"),
        "fractional order": (lambda: weak(field, order=3.5), E, "`order` along x is 3.5"),
        "order zero": (lambda: weak(field, order=0), E, "`order` along x is 0"),
    },
    21: {
        "wider than the axis": (
            lambda: weak(field, half_width=6), E, "`half_width` along x is 6.*below half of the axis, 5",
        ),
        "wider than the axis, other form": (
            lambda: weak(field, half_width={"t": 1.5}, form="pysindy"), E, "`half_width` along t is 1.5.*below.* 1",
        ),
        "negative": (lambda: weak(field, half_width=-1), E, "`half_width` along x is -1.*positive"),
        "zero": (lambda: weak(field, half_width=0), E, "`half_width` along x is 0"),
        "not a number": (lambda: weak(field, half_width=np.nan), E, "`half_width` along x is nan"),
        "in words": (lambda: weak(field, half_width="a"), K, "`half_width` along x must be a number"),
        "said yes to": (lambda: weak(field, half_width=True), K, "`half_width` along x must be a number, found True"),
        "on another axis": (lambda: weak(field, half_width={"y": 1}), E, "`half_width` has no axis 'y'"),
        "below the spacing": (
            lambda: weak(field, half_width={"x": 0.02}, form="pysindy"), E, "`half_width` along x is 0.02",
        ),
        "of a point": (
            lambda: weak(field, half_width={"x": 0.13}), E,
            "along `x` reach over 1 .* 5 are needed; make `half_width` wider",
        ),
    },
    22: {
        "even window": (lambda: savgol(field, 6), E, "`window` is 6; give an odd number"),
        "even window in a plane": (lambda: savgol2d(field, 6, dims=("x", "t")), E, "`window` is 6; give an odd number"),
        "window not above the order": (lambda: savgol(field, 3, order=3), E, "`window` is 3; give a whole number"),
        "window above the axis": (lambda: savgol(field, 81), E, "`window` is 81; give a whole number from 3 to"),
        "fractional window": (lambda: savgol(field, 5.0), E, "`window` is 5.0"),
        "negative order": (lambda: savgol(field, 5, order=-1), E, "`order` is -1"),
        "axis that is not there": (lambda: savgol(field, 5, dim="z"), E, "`dim` is 'z'; the field has the axes x, t"),
    },
    23: {
        "patch larger than the field": (lambda: ksvd(field, patch=61), E, "`patch` is 61; give a whole number"),
        "patch of one point": (lambda: ksvd(field, patch=1), E, "`patch` is 1"),
        "no atoms": (lambda: ksvd(field, atoms=0), E, "`atoms` is 0"),
        "sparsity above the atoms": (lambda: ksvd(field, sparsity=33), E, "`sparsity` is 33"),
        "no sparsity": (lambda: ksvd(field, sparsity=0), E, "`sparsity` is 0"),
        "transform sparsity above the atoms": (
            lambda: ksvd(field, transform_sparsity=33), E, "`transform_sparsity` is 33",
        ),
        "negative threshold": (lambda: ksvd(field, rho=-0.1), E, "`rho` is -0.1"),
        "threshold that is not a number": (lambda: ksvd(field, rho=np.nan), E, "`rho` is nan"),
        "threshold in words": (lambda: ksvd(field, rho="a"), E, "`rho` is 'a'"),
        "negative seed": (lambda: ksvd(field, seed=-1), E, "`seed` is -1"),
        "negative iterations": (lambda: ksvd(field, iterations=-1), E, "`iterations` is -1"),
        "nothing to learn from": (lambda: ksvd(field, training=0), E, "`training` is 0"),
        "atoms of one point": (lambda: dct_dictionary(1, 4), E, "`length` is 1"),
        "dictionary without atoms": (lambda: dct_dictionary(4, 0), E, "`atoms` is 0"),
        "start of another shape": (
            lambda: learn_dictionary(np.ones((5, 9)), 4, start=np.ones((9, 3))), E, "`start` has shape",
        ),
        "start with an empty atom": (
            lambda: learn_dictionary(np.ones((5, 9)), 3, start=np.eye(9, 3)*[1, 0, 1]), E,
            "`start` has an atom without a direction",
        ),
        "start with an infinite atom": (
            lambda: learn_dictionary(np.ones((5, 9)), 3, start=np.full((9, 3), np.inf)), E,
            "`start` has an atom without a direction",
        ),
        "signals of another length": (lambda: omp_code(np.eye(3), np.ones((4, 2)), 1), E, "`signals` has shape"),
        "more atoms than there are": (lambda: omp_code(np.eye(3), np.ones((4, 3)), 4), E, "`sparsity` is 4"),
        "atoms that are not square": (lambda: plot_dictionary(np.ones((10, 2))), E, "`dictionary` has atoms"),
    },
    24: {
        "rank zero": (lambda: svd(field, 0), E, "`rank` is 0; give a whole number from 1 to 60"),
        "rank above the axis": (lambda: svd(field, 61), E, "`rank` is 61; give a whole number from 1 to 60"),
    },
    25: {
        "constant": (lambda: grid(0*u + 7), E, "`u` is constant: there is nothing to identify"),
        "constant, on the way": (lambda: weak(field*0 + 3), E, "nothing to identify"),
    },
    26: {
        "steady": (lambda: grid(steady), E, "`u` does not change along t.*nothing to identify"),
        "steady, one of two": (
            lambda: grid({"u": u, "v": steady}),
            W("nothing to identify for the target 'v'", lambda ds: list(ds.data_vars) == ["u", "v"]),
        ),
        "target zero": (lambda: system(y=0*y), E, "`y` is zero everywhere.*nothing to identify"),
    },
    27: {
        "no variation along an axis": (
            lambda: grid(np.repeat(u[:, None], 12, 1), y=np.arange(12.0)),
            W("the terms u_y, u_yy and all others", lambda ds: ds.sizes["y"] == 12),
        ),
        "weak terms along a flat axis": (
            lambda: weak(grid(decay)), W("dropped terms that vanish.*u_x", lambda s: names(s) == ["u", "u^2"]),
        ),
        "strong terms along a flat axis": (
            lambda: strong(grid(decay)), W("dropped terms that vanish.*u_x", lambda s: names(s) == ["u", "u^2"]),
        ),
    },
    28: {
        "duplicate column": (
            lambda: system(X=with_column(X[:, 1])), W("combinations of terms before them.*: x4", lambda s: s.p == 5),
        ),
        "proportional column": (
            lambda: system(X=with_column(-1e5*X[:, 1])), W("combinations.*: x4", lambda s: s.p == 5),
        ),
    },
    29: {
        "dependent column": (
            lambda: system(X=with_column(X @ [1, 2, 0, 3.0])), W("combinations.*: x4", lambda s: s.p == 5),
        ),
        "singular subsets are skipped": (
            lambda: best_subsets(system(X=np.column_stack([X, X]))),
            W("combinations", lambda path: path.exact and path.certificate["singular"] > 0),
        ),
        "search": (lambda: best_subsets(system(X=with_column(X @ [1, 2, 0, 3.0]))),
                   W("combinations", lambda path: path.exact and path.supports[1] == (0, 2) and len(path.supports) == 4
                     and np.isfinite(path.rss).all())),
        "choice": (
            lambda: select(best_subsets(system(X=with_column(X[:, 0])))),
            W("combinations", lambda s: s.size == 2 and np.isfinite(s.coef).all() and np.isfinite(s.ubic).all()),
        ),
    },
    30: {
        "zero column": (
            lambda: system(X=with_column(np.zeros(50)), terms=list("abcde")),
            W("dropped terms that vanish.*: e", lambda s: names(s) == list("abcd")),
        ),
        "all columns zero": (lambda: system(X=0*X), E, "`X` is zero everywhere.*nothing to identify"),
    },
    31: {
        "a single wave": (
            one_wave,
            W("Ambiguous.*: u_xxx|Ambiguous.*; u_xxx", lambda s: s.verdict == "ambiguous" and s.rivals),
        ),
    },
    32: {
        "none": (lambda: best_subsets(system(), 0), E, "`max_size` is 0; give a whole number from 1 to 4"),
        "above the candidates": (
            lambda: best_subsets(system(), 5), E, "`max_size` is 5; give a whole number from 1 to 4",
        ),
        "fractional": (lambda: best_subsets(system(), 2.5), E, "`max_size` is 2.5; give a whole number from 1 to 4"),
        "none, all the way": (lambda: discover(field, max_size=0), E, "`max_size` is 0"),
        "above the candidates, all the way": (lambda: discover(field, max_size=99), E, "`max_size` is 99"),
    },
    33: {
        "too many candidates": (
            lambda: best_subsets(LinearSystem(rng.standard_normal((310, 300)), rng.standard_normal(310)), 300), E,
            r"`solver='exact'` would need 65 GB for 300 candidates up to size 300.*`max_size`.*greedy",
        ),
    },
    34: {
        "duplicate": (lambda: system(terms=["u", "u_x", "u", "u^2"]), E, "`terms` names u more than once"),
        "equal after reading": (
            lambda: system(terms=["u*u_x", "u_x*u", "u", "u^2"]), E, r"`terms` names u\*u_x more than once",
        ),
        "empty": (lambda: system(terms=["u", " ", "v", "w"]), E, "`terms` has an empty name"),
        "too few": (lambda: system(terms=["u", "v"]), E, "`terms` has 2 names for 4 columns"),
        "too many": (lambda: system(terms=list("abcde")), E, "`terms` has 5 names for 4 columns"),
        "none": (lambda: weak(field, terms=[]), E, "`terms` is empty"),
        "of another unknown": (
            lambda: weak(field, terms=["u", "v"]), E, "`terms` has v, but the field has no 'v'; it has u",
        ),
        "along another axis": (lambda: weak(field, terms=["u_yy"]), E, "`terms` has u_yy.*no space axis 'y'"),
        "time derivative": (lambda: weak(field, terms=["u_t"]), E, "`terms` has u_t.*raise `time_order`"),
        "cannot be read": (lambda: weak(field, terms=["sin(u)"]), E, r"`term` 'sin\(u\)'"),
        "huge power": (
            lambda: weak(field, terms=["u^" + "9"*6000]), E,
            "`term` 'u.9+...9+' has the power inf; give powers up to 20",
        ),
        "huge derivative": (
            lambda: weak(field, terms=["u_" + "x"*6000]), E,
            "`term` 'u_x+...x+' has a derivative of order 6000; give .* order 16",
        ),
        "huge powers": (lambda: weak(field, power=10**6), E, "`power` is 1000000; give a whole number from 0 to 20"),
        "huge derivatives": (
            lambda: weak(field, derivative_order=10**6), E,
            "`derivative_order` is 1000000; give a whole number from 0 to 16",
        ),
        "twice": (lambda: weak(field, terms=["u_x", "u_x"]), E, "`terms` names u_x more than once"),
        "unknown that cannot be part of a term": (
            lambda: grid({"u_t": u}), E, r"`field` has unknowns named \['u_t'\]; rename them",
        ),
        "unknown named after an axis": (
            lambda: check_field(xr.Dataset({"y": (("x", "t"), u)}, {"x": x, "t": t})), E,
            r"`field` has unknowns named \['y'\]",
        ),
        "no unknowns": (lambda: grid({}), E, "`field` has no variables"),
    },
    35: {
        "several unknowns, no target": (lambda: weak(two), E, "`target` must be one of u, v, found several unknowns"),
        "unknown target": (lambda: strong(two, "w"), E, "`target` must be one of u, v, found 'w'"),
        "two target columns": (
            lambda: system(y=np.column_stack([y, y])), E, r"`y` must be one target, found shape \(50, 2\)",
        ),
        "no target": (lambda: discover(field, target=[]), E, "`target` is empty"),
        "several targets of one fit": (
            lambda: total_least_squares(field, ["u_xx"], ["u", "v"]), K, "`target` is .*; name one unknown",
        ),
    },
    36: {
        "perfect fit": (
            lambda: perfect("unit_free"),
            W("fit perfectly", lambda s: s.support == (0, 2) and np.isfinite(s.ubic).all()
              and np.isfinite(s.std).all()),
        ),
        "perfect fit, paper mode": (
            lambda: perfect("paper"), W("fit perfectly", lambda s: s.support == (0, 2) and np.isfinite(s.ubic).all()),
        ),
        "negative variance": (lambda: posterior(X, y, -1.0), E, "`noise_variance` is -1"),
    },
    37: {
        "no likelihood above zero": (
            lambda: hopeless("paper"),
            W("BIC alone decides", lambda s: s.k == np.argmin(s.bic) and s.lam <= 0 and np.array_equal(s.ubic, s.bic)),
        ),
        "nothing explained": (
            lambda: hopeless("unit_free"),
            W("BIC alone decides", lambda s: s.k == np.argmin(s.bic) and np.isfinite(s.coef).all()),
        ),
    },
    38: {
        "zero": (lambda: select(plain, tau0=0), E, "`tau0` must be positive, found 0"),
        "negative": (lambda: select(plain, tau0=-0.1), E, "`tau0` must be positive, found -0.1"),
        "not a number": (lambda: select(plain, tau0=np.nan), E, "`tau0` must be positive, found nan"),
        "without end": (lambda: select(plain, tau0=np.inf), E, "`tau0` must be finite, found inf"),
        "percentile above 100": (lambda: select(plain, tau0="P101"), E, "`tau0`.*'P0' to 'P100', found 'P101'"),
        "percentile below 0": (lambda: select(plain, tau0="P-1"), E, "`tau0`.*'P0' to 'P100', found 'P-1'"),
        "in words": (lambda: select(plain, tau0="high"), E, "`tau0`.*found 'high'"),
        "of another type": (lambda: select(plain, tau0=[0.1]), K, "`tau0` must be a number or a percentile"),
        "no pair to rank": (
            lambda: select(best_subsets(LinearSystem(X[:, :1], y)), tau0="P75"),
            W("`tau0='P75'` has nothing to rank", lambda s: s.size == 1 and s.tau0 > 0),
        ),
    },
    39: {
        "indefinite": (
            lambda: posterior(X, y, 0.1, prior_cov=np.diag([1.0, 1, 1, -0.5])), E,
            "`prior_cov` must be positive definite.*-0.5",
        ),
        "singular": (
            lambda: posterior(X, y, 0.1, prior_cov=np.zeros((4, 4))), E, "`prior_cov` must be positive definite.*0",
        ),
        "asymmetric": (
            lambda: posterior(X, y, 0.1, prior_cov=np.eye(4) + np.eye(4, k=1)), E,
            "`prior_cov` must be a symmetric 4 × 4",
        ),
        "of another size": (lambda: posterior(X, y, 0.1, prior_cov=np.eye(3)), E, r"`prior_cov`.*found shape \(3, 3\)"),
        "indefinite, on a path": (
            lambda: evidence(plain, prior_cov=lambda size: -np.eye(size)), E, "`prior_cov` must be positive definite",
        ),
        "matrix instead of a function": (
            lambda: evidence(plain, prior_cov=np.eye(4)), K, "`prior_cov` must be a function",
        ),
        "NaN": (lambda: posterior(X, y, 0.1, prior_cov=np.full((4, 4), np.nan)), E, "`prior_cov`.*NaN"),
        "mean with NaN": (
            lambda: posterior(X, y, 0.1, prior_mean=[np.nan, 1, 1, 1]), E, "`prior_mean` has 1 values that are NaN",
        ),
        "infinite variance": (lambda: posterior(X, y, np.inf), E, "`noise_variance` is inf; give a finite number"),
        "variance in words": (lambda: posterior(X, y, "a"), K, "`noise_variance` is 'a'; give a number"),
        "variance said yes to": (lambda: posterior(X, y, True), K, "`noise_variance` is True; give a number"),
        "no variance, dependent columns": (
            lambda: posterior(np.ones((5, 2)), np.ones(5), 0.0), E,
            "`noise_variance` is 0 and the columns of `R` are dependent",
        ),
        "weight below zero": (lambda: posterior(X, y, 0.1, weight=-1), E, "`weight` is -1"),
        "target of another length": (
            lambda: posterior(X, y[:5], 0.1), E, "`R` must have rows and columns and `q` one value for each row",
        ),
        "columns without rows": (lambda: posterior(y, y, 0.1), E, "`R` must have rows and columns"),
        "estimate in words": (lambda: posterior(X, y, 0.1, estimate="x"), K, "`estimate` must hold real numbers"),
        "estimate of another length": (
            lambda: posterior(X, y, 0.1, estimate=[1, 2, 3]), E,
            r"`estimate` must have 4 values, one per term, found shape \(3,\)",
        ),
        "estimate said yes to": (lambda: posterior(X, y, 0.1, estimate=True), E, r"`estimate` must have 4 values"),
        "estimate in a list": (
            lambda: posterior(X, y, 0.1, estimate=[1, 0, -2, 0]),
            A(lambda belief: belief.mean.tolist() == [1, 0, -2, 0]),
        ),
        "unknown mean": (lambda: posterior(X, y, 0.1, prior_mean="ridge"), E, "`prior_mean`.*found 'ridge'"),
    },
    40: {
        "pyscipopt": (
            without("pyscipopt", lambda: best_subsets(system(), solver="miqp")), ImportError,
            r'the package pyscipopt; install it with: pip install "ubic\[solvers\]"',
        ),
        "gurobipy": (
            without("gurobipy", lambda: best_subsets(system(), solver="sos1", engine="gurobi")), ImportError,
            "the package gurobipy; install it with: pip install gurobipy",
        ),
        "h5py": (
            without("h5py", lambda: load(written("a.mat", b"\x89HDF\r\n\x1a\n"))), ImportError,
            r'the package h5py; install it with: pip install "ubic\[files\]"',
        ),
        "h5netcdf": (
            without("h5netcdf", lambda: load(written("a.nc", b"\x89HDF\r\n\x1a\n"))), ImportError,
            r'the package h5netcdf; install it with: pip install "ubic\[files\]"',
        ),
        "zarr": (
            without("zarr", lambda: load(written("a.zarr", b""))), ImportError,
            r'the package zarr; install it with: pip install "ubic\[files\]"',
        ),
        "dask": (
            without("dask.array", lambda: load(saved("a.nc"), chunks="auto")), ImportError,
            r'the package dask.array; install it with: pip install "ubic\[dask\]"',
        ),
        "torch": (
            without("torch", lambda: discover(field, validate="pinn")), ImportError,
            r'the package torch; install it with: pip install "ubic\[pinn\]"',
        ),
    },
    41: {
        "in finite time": (
            lambda: simulate({"u^2": 1}, start(np.ones_like), np.linspace(0, 2, 8)),
            A(lambda ds: abs(ds.attrs["diverged_at"] - 1) < 0.02 and np.isnan(ds.u[:, 4:]).all()
              and np.isfinite(ds.u[:, :4]).all()),
        ),
        "ill-posed": (
            lambda: simulate({"u_xx": -1e6}, start(), np.linspace(0, 10, 11)),
            A(lambda ds: 0 < ds.attrs["diverged_at"] <= 10),
        ),
    },
    42: {
        "restart": (
            trained(2),
            A(lambda network: network.losses.iloc[1].equals(network.losses.iloc[0]) and network.stopped == ""
              and network.losses.total.iloc[-1] < network.losses.total.iloc[0]),
        ),
        "twice": (
            trained(2, 4), E,
            "a loss that is not finite twice in a row, in epoch 3 .the last finite losses: .*, .*, .*; scale the data",
        ),
    },
    43: {
        "no such file": (lambda: load("none.npz"), E, "`path` is 'none.npz'; there is no such file"),
        "cut short, npz": (
            lambda: load(saved("a.npz", -100)), E, "`path` 'a.npz' cannot be read as .npz: File is not a zip file",
        ),
        "cut short, nc": (lambda: load(saved("a.nc", 3000)), E, "`path` 'a.nc' cannot be read as .nc: "),
        "cut short, mat": (
            lambda: load(saved("a.mat", 3000)), E,
            "`path` 'a.mat' cannot be read as .mat: one of its elements claims",
        ),
        "another kind inside": (
            lambda: load(written("a.nc", b"not a netCDF file")), E,
            "`path` 'a.nc' cannot be read as .nc: it does not start like a netCDF file",
        ),
        "empty": (lambda: load(written("a.npy", b""), x=x, t=t), E, "`path` 'a.npy' cannot be read as .npy: EOF"),
        "a kind nobody knows": (
            lambda: load("a.xlsx"), E, r"`path` is 'a.xlsx'; files of kind \.nc, \.zarr,.* can be read",
        ),
        "no name": (lambda: load(None), K, "`path` is None; give the name of a file"),
        "an empty name": (lambda: load(""), E, "`path` is empty; give the name of a file"),
        "an empty name of a result": (lambda: load_result(""), E, "`path` is empty; give the name of a file"),
        "an empty name of a report": (lambda: write_report(None, ""), E, "`path` is empty; give the name of a file"),
        "a folder": (
            lambda: load(Path("folder.csv") if Path("folder.csv").mkdir() is None else 0), E,
            "`path` is 'folder.csv', which is a folder; give the name of a file",
        ),
        "name that no system allows": (lambda: load("a"*300 + ".npz"), E, "there is no such file"),
    },
    44: {
        "variable": (
            lambda: load(saved("a.npz"), variables="w"), E,
            r"`variables` mentions \['w'\]; the file has \['t', 'u', 'x'\]",
        ),
        "no variable": (
            lambda: load(saved("a.npz"), variables=[]), E,
            r"`variables` is \[\], which names no unknown; name at least one",
        ),
        "an axis twice": (
            lambda: as_field(u, x=x, dims=("x", "x")), E,
            r"`dims` is \('x', 'x'\), which names an axis twice; give every axis a name of its own",
        ),
        "coordinates as grids": (
            lambda: load(archived(u=u, x=np.repeat(x[:, None], t.size, 1), t=np.repeat(t[None], x.size, 0))), E,
            r"`path` has x of shape \(80, 60\) and t of shape \(80, 60\), as from a meshgrid; "
            "coordinates must be one-dimensional",
        ),
        "a coordinate as a grid, axes named": (
            lambda: load(archived(u=u, x=np.repeat(x[:, None], t.size, 1), t=t), dims=("x", "t")), E,
            r"`path` has x of shape \(80, 60\), as from",
        ),
        "grids beside lines that are given": (
            lambda: load(archived(u=u, x=np.repeat(x[:, None], t.size, 1), t=t), x=x),
            A(lambda ds: dict(ds.sizes) == {"x": 80, "t": 60}),
        ),
        "a structure": (
            lambda: load(structured("a.mat")), E,
            r"`path` has arrays \{\} and coordinates \{\} \(passed over: \['run', 'note'\]; what is inside structures "
            r"and cells is read when it is saved as arrays of its own\), from which no unknowns",
        ),
        "a structure, MATLAB 7.3": (
            lambda: load(structured("b.mat")), E,
            r"`path` has arrays \{\} and coordinates \{\} \(passed over: \['run'\];",
        ),
        "scalar beside the unknown": (
            lambda: load(written_nc(field.assign(dt=0.1))), E,
            r"`dt` has axes \(\); every unknown and every known field must have all of \('x', 't'\): "
            r"leave it out with `?variables=\['u'\]",
        ),
        "mask beside the unknown": (
            lambda: load(written_nc(field.assign(mask=field.u.isel(t=0, drop=True) > 0, v=2*field.u))), E,
            r"`mask` has axes \('x',\); .* leave it out with `?variables=\['u', 'v'\]",
        ),
        "bounds beside the unknown": (
            lambda: load(written_nc(field.assign(bounds=(("t", "nv"), np.zeros((60, 2)))))), E,
            r"`bounds` has axes \('t', 'nv'\); .*`?variables=\['u'\]",
        ),
        "scalar left out": (
            lambda: load(written_nc(field.assign(dt=0.1)), variables=["u"]), A(lambda ds: list(ds) == ["u"]),
        ),
        "scalar beside other axes": (
            lambda: load(written_nc(field.rename(x="lon", t="day").assign(dt=0.1))), E,
            r"`field` has axes \['lon', 'day'\]; rename them",
        ),
        "renamed to nothing": (
            lambda: load(saved("a.mat"), rename={"u": ""}), K, "`rename` is {'u': ''}; give a mapping",
        ),
        "renamed": (
            lambda: load(saved("a.mat"), rename={"w": "u"}), E,
            r"`rename` mentions \['w'\]; the file has \['t', 'u', 'x'\]",
        ),
        "a coordinate as the unknown": (
            lambda: load(saved("a.mat"), variables="x"), E,
            r"`variables` is \['x'\], which names no unknown; name at least one",
        ),
        "of another type": (lambda: load(saved("a.npz"), variables=3), K, "`variables` is 3; give a name"),
    },
    45: {
        "rebuilt": (
            cache_cut_short,
            W("the cache file burgers-.*npz is damaged; it is made again", lambda pair: pair[0].identical(pair[1])),
        ),
    },
}

OTHER = { # what is on no row of the table: settings of the road
    "unknown solver": (
        lambda: best_subsets(system(), solver="magic"), E, "`solver` must be one of exact.*found 'magic'",
    ),
    "not a system": (lambda: best_subsets(X), K, "`system` must be a LinearSystem, found ndarray"),
    "not a path": (lambda: select(plain.system), K, "`path` must be a SubsetPath, found LinearSystem"),
    "not a field": (lambda: check_field(u), K, r"`field` is a ndarray; make a field of it with as_field"),
    "not a field, to denoise": (lambda: svd(u, 1), K, "`field` is a ndarray"),
    "not a field, to discover": (lambda: discover(u), K, "`field` is a ndarray; make a field of it with as_field"),
    "no field to discover": (lambda: discover(None), K, "`field` is None; give a field, from ubic.load"),
    "number to discover": (lambda: discover(3), K, "`field` is 3; give a field"),
    "file to discover": (
        lambda: discover("field.csv"), K, "`field` is 'field.csv'; read the file first, with ubic.load",
    ),
    "path to discover": (
        lambda: discover(Path("field.csv")), K, "`field` is 'field.csv'; read the file first, with ubic.load",
    ),
    "not a field, to plot": (lambda: plot_field(3), K, "`field` is 3; give a field"),
    "not axes, to plot on": (lambda: plot_field(field, "u", ax=3), K, "`ax` is 3; give axes of matplotlib"),
    "noise said yes to": (lambda: add_noise(field, True), E, "`percent` is True; give a finite number"),
    "joint noise in words": (lambda: add_noise(field, 10, joint="a"), K, "`joint` is 'a'; give True or False"),
    "cache that is a number": (lambda: datasets.burgers(3), K, "`cache` is 3; give True or False"),
    "cache that is a number, by frames": (
        lambda: datasets.reaction_diffusion("small", 3), K, "`cache` is 3; give True or False",
    ),
    "constant in words": (
        lambda: discover(field, constant="a", derivative_order=2), K, "`constant` is 'a'; give True or False",
    ),
    "fluxes that are a number": (lambda: discover(field, fluxes=3), K, "`fluxes` is 3; give True or False"),
    "constant that is a number": (lambda: candidates(constant=3), K, "`constant` is 3; give True or False"),
    "unknowns that are a number": (lambda: candidates(unknowns=3), K, "`unknowns` is 3; give a name"),
    "unknown with a blank": (lambda: candidates(unknowns="u v"), E, "`unknowns` has 'u v'; give letters"),
    "unknown named twice": (lambda: candidates(unknowns=("u", "u")), A(lambda terms: terms == candidates())),
    "known fields that are a number": (lambda: candidates(known=3), K, "`known` is 3; give a name"),
    "known field that is unknown": (
        lambda: candidates(known="u"), E, "`known` has 'u', which is among the `unknowns` too; ",
    ),
    "axes that are a number": (lambda: candidates(axes=3), K, "`axes` is 3; give a name"),
    "axis that does not exist": (lambda: candidates(axes="q"), E, "`axes` has 'q'; the axes are called x, y, z and t"),
    "no coefficients": (lambda: coefficient_error(None, {"u_x": 1}), K, "`found` is None; give a mapping"),
    "coefficient in words": (
        lambda: coefficient_error({"u_x": "a"}, {"u_x": 1}), K, "`found` has 'a' for u_x; give a number",
    ),
    "true coefficient said yes to": (
        lambda: coefficient_error({"u_x": 1}, {"u_x": True}), K, "`truth` has True for u_x; give a number",
    ),
    "term of a PDE": (lambda: simulate({"u": {"u_q": 1}}, start(), [0, 1]), E, "the `pde` term 'u_q' has a part 'u_q'"),
    "term of a PDE that is a number": (
        lambda: simulate({"u": {3: 1}}, start(), [0, 1]), K, "the `pde` term must be a string, found int",
    ),
    "rows in words": (lambda: UBICRegressor().fit("a", "b"), K, "`X` is 'a'; give an array"),
    "target in words": (lambda: UBICRegressor().fit(X, "b"), K, "`y` is 'b'; give an array"),
    "number to save": (lambda: save_result(3, "a.npz"), K, "`result` is 3; give a result of ubic"),
    "report to nowhere": (lambda: write_report(found, None), K, "`path` is None; give the name of a file"),
    "report to bytes": (lambda: write_report(found, b"x.html"), K, "`path` is b'x.html'; give the name of a file"),
    "title that is a number": (lambda: write_report(found, "t.html", title=3), K, "`title` is 3; give a text"),
    "no penalty": (lambda: explore(found).at_penalty(None), K, "`lam` is None; give a number"),
    "penalty in words": (lambda: explore(found).at_penalty("1"), K, "`lam` is '1'; give a number"),
    "penalty that is not a number": (lambda: explore(found).at_penalty(np.nan), E, "`lam` is nan; give the logarithm"),
    "penalty of none at all": (
        lambda: explore(found).at_penalty(-np.inf),
        A(lambda explorer: explorer.view.k == np.argmin(explorer.view.bic)),
    ),
    "size said yes to": (lambda: explore(found).at_size(True), E, "`size` must be one of 1, 2, 3, 4, found True"),
    "sliders in words": (lambda: explore(found, live="yes"), K, "`live` is 'yes'; give True or False"),
    "no steps": (lambda: select(plain, n_delta=0), E, "`n_delta` is 0; give a whole number of at least 1"),
    "fractional steps": (lambda: select(plain, n_delta=1.5), E, "`n_delta` is 1.5; give a whole number"),
    "negative scale": (lambda: select(plain, gamma=-1), E, "`gamma` is -1; give a positive"),
    "infinite scale": (lambda: select(plain, gamma=np.inf), E, "`gamma` is inf; give a positive"),
    "scale in words": (lambda: select(plain, gamma="a"), K, "`gamma` is 'a'; give a positive number"),
    "unknown mode": (lambda: select(plain, mode="best"), E, "`mode` must be 'unit_free' or 'paper', found 'best'"),
    "rows counted": (lambda: select(plain, n_eff=0.5), E, "`n_eff`.*above 1, found 0.5"),
    "rows counted in words": (lambda: select(plain, n_eff="all"), E, "`n_eff`.*found 'all'"),
    "rows of a system": (lambda: system(n_eff=0), E, "`n_eff` is 0; give a positive"),
    "settings beside a recipe": (
        lambda: discover(field, recipe="burgers", terms=["u"]), K,
        "`recipe` stands for all settings; leave out `?terms`?",
    ),
    "arguments beside a recipe": (
        lambda: discover(field, recipe="burgers", power=7, max_size=1, tau0=np.array([1.0])), K,
        "`recipe` stands for all settings; leave out `?power`?, `?max_size`?, `?tau0`?, or the recipe",
    ),
    "recipe for another kind of field": (
        lambda: discover(field, recipe="reaction_diffusion"), E,
        "`recipe` 'reaction_diffusion' does not suit this field: ",
    ),
    "recipe that is no name": (
        lambda: discover(field, recipe=["burgers"]), E, "`recipe` must be one of burgers.*found",
    ),
    "denoised onto another grid": (
        lambda: discover(field, denoise=lambda ds: ds.isel(x=slice(0, 50))), E,
        "`denoise` returned a field of sizes .* on another grid",
    ),
    "denoised into other unknowns": (
        lambda: discover(field, denoise=lambda ds: ds.rename(u="v")), E,
        "`denoise` returned a field of v; it must keep the unknowns u",
    ),
    "denoised into an array": (
        lambda: discover(field, denoise=lambda ds: ds.u.values), K, "`denoise` returned a ndarray",
    ),
    "target that is known": (
        lambda: weak(field.assign(v=field.u**2), "v", known="v"), E, "`target` 'v' is among the `known` fields",
    ),
    "known field that is missing": (lambda: weak(field, known="v"), E, "`known` has 'v', but the field has u"),
    "nothing unknown": (lambda: weak(field, known="u"), E, "`known` names all of u"),
    "known field itself": (lambda: weak(field, known=field.u), K, "`known` is a DataArray; give a name"),
    "accuracy of text": (
        lambda: weak(field, form="pysindy", accuracy="a"), E, "`accuracy` must be 2, 4, 6 or 8, found 'a'",
    ),
    "unknown formulation": (
        lambda: mixed_integer(LinearSystem(X, y), 2, formulation="miq"), E,
        "`formulation` must be one of miqp, sos1, found 'miq'",
    ),
    "rows that were not kept": (
        lambda: from_triangle(LinearSystem(X, y).R, 100).X, E, "rows of this system were not kept",
    ),
    "unknown form": (
        lambda: weak(field, form="strange"), E, "`form` must be 'conservative' or 'pysindy', found 'strange'",
    ),
    "axes of other names": (lambda: check_field(field.rename(x="lon")), E, r"`field` has axes \['lon'\]; rename them"),
    "no x": (lambda: check_field(field.rename(x="y")), E, r"`field` has axes \('y', 't'\)"),
    "no coordinate values": (
        lambda: as_field(xr.DataArray(u, dims=("x", "t")), x=x), E, "`t` has no coordinate values",
    ),
    "unknown on fewer axes": (lambda: check_field(field.assign(v=field.u.isel(t=0, drop=True))), E, "`v` has axes"),
    "names for labelled axes": (
        lambda: as_field(field, dims=("x", "t")), E, "`dims` is .*, and these data have names already; rename those",
    ),
    "true PDE that cannot be read": (
        lambda: discover(field.assign_attrs(pde="[" * 100_000), derivative_order=1, power=1),
        W(r"`field.attrs\['pde'\]` is .*; it is ignored", lambda found: found.errors() == {}),
    ),
}


def as_case(name, call, *expected):
    if len(expected) == 2: expected = [Refused(*expected)]
    return pytest.param(call, *expected, id=re.sub(r"\W+", "-", name))


CASES = [as_case(f"row-{row:02d} {label}", *case) for row, cases in TABLE.items() for label, case in cases.items()]
CASES += [as_case(f"other {label}", *case) for label, case in OTHER.items()]


@pytest.mark.parametrize("call, expected", CASES)
def test_input(call, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    expected.check(call)


def test_every_row_of_the_table_is_here():
    assert list(TABLE) == list(ROWS) and all(TABLE.values())
    assert len({case.id for case in CASES}) == len(CASES)


def test_an_unknown_that_was_not_explained_is_named_among_those_that_were():
    with pytest.raises(KeyError, match="no unknown 'w'; this discovery has u"): found["w"]
    assert "w" not in found and found.get("w") is None


def test_the_least_number_of_points_that_a_message_names_is_enough():
    with pytest.raises(ValueError, match="at least") as caught: weak(field.isel(t=slice(0, 12)))
    assert weak(field.isel(t=slice(0, int(re.search(r"at least (\d+) points", str(caught.value))[1])))).n > 8


def test_ordinary_input_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        select(best_subsets(system()))
        select(best_subsets(system(n_eff=20.0)), mode="paper")
