"Libraries against PySINDy, exact integrals and exact solutions."
import warnings

import numpy as np
import pytest
import xarray as xr
from numpy.polynomial import Polynomial

import ubic
import ubic.library as library
from libraries import noisy, white_noise
from standing import standing, t
from ubic import datasets
from ubic.criterion import select
from ubic.field import as_field, true_pde
from ubic.library import strong, weak
from ubic.subsets import best_subsets
from ubic.terms import candidates, parse_term
from ubic.weakform import rows as rows_room

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


# --- PySINDy ----------------------------------------------------------------------------------------------------------

def peer_library(field, derivative_order, p, rows, seed):
    "Names, matrix and target of PySINDy, on boxes drawn from the legacy generator."
    ps = pytest.importorskip("pysindy", reason="PySINDy is not installed; it comes with the extra ubic[sindy]")
    if not ps.__version__.startswith("2.1"): pytest.skip(f"the comparison is with PySINDy 2.1, found {ps.__version__}")
    grid = np.stack(np.meshgrid(field.x.values, field.t.values, indexing="ij"), axis=-1)
    state = np.random.get_state()
    try:
        np.random.seed(seed)
        powers = ps.PolynomialLibrary(degree=2, include_bias=False)
        library = ps.WeakPDELibrary(
            function_library=powers, derivative_order=derivative_order, spatiotemporal_grid=grid, K=rows, p=p,
        )
    finally: np.random.set_state(state)
    u = ps.AxesArray(field.u.values[..., None], {"ax_spatial": [0], "ax_time": 1, "ax_coord": 2})
    X = np.asarray(library.fit(u).transform(u))
    return library.get_feature_names(["u"]), X, library.convert_u_dot_integral(field.u.values[..., None])[:, 0]


@pytest.mark.parametrize("name, derivative_order, p", [("burgers", 2, 2), ("kdv", 4, 4)])
def test_pysindy_form_is_pysindy(noisy, name, derivative_order, p):
    names, X, y = peer_library(noisy[name], derivative_order, p, 300, seed=7)
    settings = dict(form="pysindy", order=p, rows=300, seed=np.random.RandomState(7))
    ours = weak(noisy[name], derivative_order=derivative_order, **settings)
    our_names = [str(term).replace("^2", "²").replace("*", "").replace("x", "1") for term in ours.terms]
    assert our_names == [n.replace("u^2", "u²").replace("u u", "uu") for n in names]
    assert (np.abs(ours.X - X) <= 1e-8*np.abs(X).max(axis=0)).all()
    assert np.abs(ours.y - y).max() <= 1e-8*np.abs(y).max()


# --- exact integrals --------------------------------------------------------------------------------------------------

space, clock = Polynomial([2, 0.5, 1]), Polynomial([1, 0.3])


def separable(term):
    "The term of u = space(x)·clock(t), as one polynomial in x and one in t."
    F, G = Polynomial([1.0]), Polynomial([1.0])
    for jet, power in term.product: F, G = F*space.deriv(jet.order)**power, G*clock**power
    return F.deriv(len(term.outer)), G


def integral(P, order, center, half):
    "∫ P(s) φ(s) field with φ = (1 - ((s - center)/half)²)^order."
    whole = (Polynomial([1, 0, -1])**order*P(Polynomial([center, half]))).integ()
    return half*(whole(1) - whole(-1))


def polynomial_field(nx=61, nt=41):
    x, t = np.linspace(-1, 1, nx), np.linspace(0, 2, nt)
    return as_field(space(x)[:, None]*clock(t), x=x, t=t)


def boxes_of(field, points):
    "Half-widths and centres of the boxes that fit on the grid, per axis."
    half = {dim: n*float(field[dim][1] - field[dim][0]) for dim, n in points.items()}
    return half, {dim: field[dim].values[n:field.sizes[dim] - n] for dim, n in points.items()}


def exact_rows(F, G, order, half, centers):
    "∫∫ F(x) G(t) φ over every box."
    along_x = [integral(F, order["x"], x, half["x"]) for x in centers["x"]]
    return np.outer(along_x, [integral(G, order["t"], t, half["t"]) for t in centers["t"]]).ravel()


def quiet(function, *args, **kw):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args, **kw)


def features(field, points, order, **options):
    "Pairs of our columns and exact ones, the target last."
    half, centers = boxes_of(field, points)
    system = quiet(weak, field, half_width=half, order=order, **options)
    one = Polynomial([1.0])
    factors = [separable(term) if term.unknowns else (one, one) for term in system.terms]
    columns = [exact_rows(F, G, order, half, centers) for F, G in factors]
    truth = [*columns, exact_rows(space, clock.deriv(), order, half, centers)]
    return dict(zip([*map(str, system.terms), "target"], zip([*system.X.T, system.y], truth)))


def relative_error(ours, truth): return np.abs(ours - truth).max()/np.abs(truth).max()


def test_conservative_features_of_a_polynomial_are_its_integrals():
    candidates = dict(derivative_order=2, power=2, constant=True)
    pairs = features(polynomial_field(), {"x": 20, "t": 12}, {"x": 6, "t": 5}, **candidates)
    assert len(pairs) == 10
    for name, pair in pairs.items(): assert relative_error(*pair) < 2e-3, name


def test_quadrature_error_falls_with_the_square_of_the_spacing():
    def run(n):
        field = polynomial_field(60*n + 1, 40*n + 1)
        return features(field, {"x": 12*n, "t": 10*n}, {"x": 4, "t": 4}, derivative_order=2)
    runs = [run(n) for n in (1, 2, 4)]
    for name in runs[0]:
        coarse, middle, fine = (relative_error(*run[name]) for run in runs)
        assert fine < 1e-9 or coarse > 3.5*middle > 3.5*3.5*fine, name


def test_pysindy_features_of_a_bilinear_field_are_its_integrals():
    x, t = np.linspace(-1, 1, 61), np.linspace(0, 2, 41)
    F, G = Polynomial([2, 0.5]), Polynomial([1, 0.3])
    field = as_field(F(x)[:, None]*G(t), x=x, t=t)
    boxes = dict(form="pysindy", order=3, rows=50, seed=1, half_width={"x": 0.5, "t": 0.3})
    system = quiet(weak, field, terms=["u", "u_x"], **boxes)
    rng = np.random.default_rng(1)
    ends = []
    for s, half in ((x, 0.5), (t, 0.3)):
        center = rng.uniform(s[0] + half, s[-1] - half, size=50)
        inside = [s[(s > c - half) & (s < c + half)] for c in center]
        ends.append([(points[0], points[-1]) for points in inside])
    def exact(P, Q):
        def between(polynomial, first, last): return integral(polynomial, 3, (first + last)/2, (last - first)/2)
        return np.array([between(P, *along_x)*between(Q, *along_t) for along_x, along_t in zip(*ends)])
    for column, (P, Q) in zip(system.X.T, [(F, G), (F.deriv(), G)]):
        np.testing.assert_allclose(column, exact(P, Q), rtol=1e-10)
    np.testing.assert_allclose(system.y, exact(F, G.deriv()), rtol=1e-9)


# --- what a derivative must not see -----------------------------------------------------------------------------------

@pytest.mark.parametrize("form", ["conservative", "pysindy"])
@pytest.mark.parametrize("derivative_order", [2, 4])
def test_an_offset_of_the_field_leaves_derivatives_unchanged(noisy, form, derivative_order):
    terms = ["u_x", "u_xx", "u_xxx", "u_xxxx"][:derivative_order]
    field = noisy["burgers"]
    one, other = (weak(u, terms=terms, form=form, rows=100) for u in (field, field + 10.0))
    for a, b in zip([*one.X.T, one.y], [*other.X.T, other.y]): assert np.abs(a - b).max() <= 1e-9*np.abs(a).max()


@pytest.mark.parametrize("name, derivative_order", [("burgers", 2), ("kdv", 4), ("ks", 4)])
def test_clean_fields_give_their_own_equation(name, derivative_order):
    field = getattr(datasets, name)()
    found = select(best_subsets(weak(field, derivative_order=derivative_order))).pde()["u"]
    truth = true_pde(field)["u"]
    assert set(found) == set(truth)
    np.testing.assert_allclose([found[term] for term in truth], list(truth.values()), rtol=1e-3)


def test_field_is_left_alone_and_axes_may_come_in_any_order(noisy):
    field = noisy["burgers"]
    before = field.copy(deep=True)
    first, turned = weak(field, rows=100), weak(field.transpose("t", "x"), rows=100)
    assert field.identical(before) and np.array_equal(first.X, turned.X) and np.array_equal(first.y, turned.y)


# --- several axes and unknowns ----------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def plane_waves():
    "u_t = 0.2 u_xx + 0.1 u_yy and v_t = -0.5 v_y."
    c, t = np.linspace(0, 2*np.pi, 40), np.linspace(0, 2, 40)
    x, y = c[:, None, None], c[None, :, None]
    u = np.exp(-0.2*t)*np.sin(x) + np.exp(-0.4*t)*np.cos(2*y) + np.exp(-0.3*t)*np.sin(x + y)
    v = np.sin(2*(y - 0.5*t)) + 0.5*np.cos(x)*np.cos(y - 0.5*t)
    return as_field({"u": u, "v": v}, dims=("x", "y", "t"), x=c, y=c, t=t)


@pytest.mark.parametrize("library", [weak, strong])
def test_two_axes_and_two_unknowns(plane_waves, library):
    system = library(plane_waves, "u", terms=["u_xx", "u_yy"])
    np.testing.assert_allclose(np.linalg.lstsq(system.X, system.y, rcond=None)[0], [0.2, 0.1], rtol=2e-3)
    system = library(plane_waves, "v", terms=["v", "v_x", "v_y", "u*v_x", "u_xy"])
    found = np.linalg.lstsq(system.X, system.y, rcond=None)[0]
    np.testing.assert_allclose(found, [0, 0, -0.5, 0, 0], rtol=0, atol=2e-3)
    assert system.target == "v_t"


# --- strong form ------------------------------------------------------------------------------------------------------

def cole_hopf(n):
    "An exact periodic solution of u_t = -u u_x + 0.2 u_xx, sampled on n + 1 by n + 1 points."
    nu, x, t = 0.2, np.linspace(0, 2*np.pi, n + 1), np.linspace(0, 2, n + 1)
    decay = np.exp(-nu*t)
    return as_field(2*nu*0.9*decay*np.sin(x)[:, None]/(1 + 0.9*decay*np.cos(x)[:, None]), dims=("x", "t"), x=x, t=t)


def test_strong_form_of_an_exact_solution():
    residuals = []
    for n in (64, 128, 256):
        system = strong(cole_hopf(n), terms=["u*u_x", "u_xx"], accuracy=4)
        residuals.append(np.sqrt(np.mean((system.y - system.X @ [-1, 0.2])**2)))
    assert system.n == 257**2 and residuals[0] > 8*residuals[1] > 8*8*residuals[2]
    np.testing.assert_allclose(np.linalg.lstsq(system.X, system.y, rcond=None)[0], [-1, 0.2], rtol=1e-4)


@pytest.mark.parametrize("form, tolerance", [
    ("conservative", 1e-3), ("pysindy", 5e-3), # the latter takes differences of the data
])
def test_weak_form_of_an_exact_solution(form, tolerance):
    system = weak(cole_hopf(128), terms=["u*u_x", "u_xx"], form=form)
    np.testing.assert_allclose(np.linalg.lstsq(system.X, system.y, rcond=None)[0], [-1, 0.2], rtol=tolerance)


def test_crop_leaves_the_inside():
    field = cole_hopf(32)
    whole, inside = strong(field), strong(field, crop=3)
    assert inside.n == 27**2 and np.array_equal(inside.y, whole.y.reshape(33, 33)[3:-3, 3:-3].ravel())


def test_default_candidates_are_those_of_the_paper():
    of_the_paper = ["u", "u^2", "u_x", "u_xx", "u*u_x", "u^2*u_x", "u*u_xx", "u^2*u_xx"]
    assert [str(term) for term in weak(cole_hopf(64), rows=50).terms] == of_the_paper


def test_single_precision_fields_are_computed_in_double(noisy):
    single = weak(noisy["burgers"].astype("float32"), rows=100)
    assert single.X.dtype == single.y.dtype == np.float64 and isinstance(noisy["burgers"], xr.Dataset)


def test_a_spike_is_no_test_function(noisy):
    with pytest.raises(ValueError, match="`order` along x is 40"): weak(noisy["burgers"], order=40)


# --- weak libraries beside PySINDy ------------------------------------------------------------------------------------

functions = ["u", "v", "u^3", "v^3", "u*v^2", "u^2*v"]


def peer(field, rows, widths, derivative_order):
    "Matrix, targets and terms of PySINDy's weak library."
    ps = pytest.importorskip("pysindy")
    np.random.seed(0) # PySINDy draws its boxes from the global generator
    dims, data = list(field.dims), np.stack([field.u.values, field.v.values], axis=-1)
    choice = ps.CustomLibrary(library_functions=[lambda u: u, lambda u: u**3, lambda u, v: u*v**2, lambda u, v: u**2*v])
    grid = np.stack(np.meshgrid(*(field[dim].values for dim in dims), indexing="ij"), axis=-1)
    settings = {"function_library": choice, "derivative_order": derivative_order, "spatiotemporal_grid": grid}
    weak_library = ps.WeakPDELibrary(**settings, K=rows, H_xt=widths, p=4, include_bias=True)
    x = ps.AxesArray(data, {"ax_spatial": list(range(len(dims) - 1)), "ax_time": len(dims) - 1, "ax_coord": len(dims)})
    words = ["".join(dim*n for dim, n in zip(dims, orders)) for orders in weak_library.multiindices]
    derivatives = [f"{name}_{word}" for word in words for name in "uv"]
    products = [f"{function}*{derivative}" for derivative in derivatives for function in functions]
    terms = ["1"] + functions + derivatives + products
    return np.asarray(weak_library.fit(x).transform(x)), weak_library.convert_u_dot_integral(data), terms


@pytest.mark.parametrize("slab", [2**29, 2**20])
@pytest.mark.parametrize("shape, dims, derivative_order", [
    ((20, 22, 24), "xyt", 2), ((20, 22, 24), "xyt", 3), ((14, 12, 13, 16), "xyzt", 2), ((40, 50), "xt", 4),
])
def test_same_numbers_as_pysindy(monkeypatch, shape, dims, derivative_order, slab):
    monkeypatch.setattr(rows_room, "tile_bytes", slab)
    field, widths = white_noise(shape, dims), [0.17*(1 + i) for i in range(len(shape))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y, terms = peer(field, 200, widths, derivative_order)
        half_width, largest = dict(zip(dims, widths)), np.abs(X).max(axis=0)
        for k, target in enumerate("uv"):
            settings = {"terms": terms, "form": "pysindy", "rows": 200, "half_width": half_width}
            system = weak(field, target, **settings, seed=np.random.RandomState(0))
            position = [system.terms.index(parse_term(term)) for term in terms]
            np.testing.assert_allclose(system.X[:, position]/largest, X/largest, rtol=0, atol=1e-10)
            np.testing.assert_allclose(system.y, y[:, k], rtol=0, atol=1e-10*np.abs(y).max())


# --- several targets, orders in time, products ------------------------------------------------------------------------

@pytest.mark.parametrize("names", [["u", "v"], ("u", "v"), {"u": 1, "v": 2}.keys(), np.array(["u", "v"])])
def test_several_targets_share_one_table(names):
    "Any list of names gives a system for each, equal to the one made alone."
    rng = np.random.default_rng(0)
    c, t = np.linspace(0, 6, 24), np.linspace(0, 3, 20)
    wave = np.sin(c[:, None, None] + 2*c[None, :, None] - t) + np.cos(2*c[:, None, None] - c[None, :, None] + 0.5*t)
    unknowns = {"u": wave + 0.1*rng.standard_normal(wave.shape), "v": wave**2}
    field = as_field(unknowns, dims=("x", "y", "t"), x=c, y=c, t=t)
    both = library.weak(field, names, power=1)
    assert list(both) == ["u", "v"]
    for name, system in both.items():
        alone = library.weak(field, name, power=1)
        assert system.terms == alone.terms and system.target == f"{name}_t"
        assert np.array_equal(system.X, alone.X) and np.array_equal(system.y, alone.y)
        assert np.allclose(np.abs(system.R), np.abs(alone.R), rtol=0, atol=1e-12*np.abs(alone.R).max())


def test_damping_is_a_candidate():
    faded = standing(lambda q: 1.5*q)*np.exp(-t/5)
    system = weak(faded, terms=["u", "u_xx", "u_t"], time_order=2)
    np.testing.assert_allclose(np.linalg.lstsq(system.X, system.y, rcond=None)[0], [-0.04, 2.25, -0.4], rtol=2e-3)


def test_time_order_bad_inputs():
    field = standing(lambda q: q)
    with pytest.raises(ValueError, match="`time_order` is 3"): weak(field, time_order=3)
    with pytest.raises(ValueError, match="`time_order`"): strong(field, time_order=0)
    with pytest.raises(ValueError, match="`terms` has u_t"): weak(field, terms=["u_t", "u"])
    with pytest.raises(ValueError, match="`order` along t"): weak(field, time_order=2, order={"t": 1})
    with pytest.raises(ValueError, match="`time_order` is 3"):
        ubic.refit.total_least_squares(field, ["u"], time_order=3)
    with pytest.raises(TypeError, match="`data` must be a field or a LinearSystem, found int"): ubic.stability(3)


def test_forms_agree_on_derivatives_of_products():
    field, terms = ubic.datasets.burgers(), ["(u^2)_x", "u_xx"]
    both = weak(field, terms=terms), weak(field, terms=terms, form="pysindy")
    for system in (*both, strong(field, terms=terms, crop=8)):
        np.testing.assert_allclose(np.linalg.lstsq(system.X, system.y, rcond=None)[0], [-0.5, 0.1], rtol=0.02)
    assert len(candidates(power=3, derivative_order=2, fluxes=True)) == 9
