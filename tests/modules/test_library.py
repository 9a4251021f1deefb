"""Libraries against PySINDy, findiff, exact integrals and exact solutions."""
import time
import warnings

import numpy as np
import pytest
import xarray as xr
from numpy.polynomial import Polynomial

from ubic import datasets
from ubic.criterion import select
from ubic.field import add_noise, as_field, true_pde
from ubic.library import automatic_box, bump, difference, strong, weak
from ubic.subsets import best_subsets
from ubic.terms import by_parts, candidates, is_exact_derivative, parse_term, to_sympy


@pytest.fixture(scope="module")
def noisy():
    return {name: add_noise(getattr(datasets, name)(), 30, seed=0) for name in ("burgers", "kdv")}


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


# --- findiff ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_differences_are_those_of_findiff(d, axis):
    findiff = pytest.importorskip("findiff", reason="findiff is not installed; it comes with the extra ubic[dev]")
    u = np.random.default_rng(d).standard_normal((15, 12))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = findiff.FinDiff(axis, 0.3, d, acc=4)(u)
    ours = difference(u, 0.3, d, axis, accuracy=4)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11*np.abs(theirs).max())


@pytest.mark.parametrize("d", [1, 2, 3, 4])
@pytest.mark.parametrize("accuracy", [2, 4, 6])
def test_differences_are_exact_for_polynomials(d, accuracy):
    x = np.linspace(-1, 1, 21)
    u = Polynomial(np.random.default_rng(0).standard_normal(d + accuracy)) # degree d + accuracy - 1
    exact = u.deriv(d)(x)
    ours = difference(u(x), 0.1, d, accuracy=accuracy)
    np.testing.assert_allclose(ours, exact, rtol=0, atol=1e-8*np.abs(exact).max())


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


def test_bump_derivatives_agree_with_differences():
    z = np.linspace(-1, 1, 2001)
    for d in (1, 2, 3):
        differences = difference(bump(z, 5, d - 1), z[1] - z[0], accuracy=6)
        np.testing.assert_allclose(bump(z, 5, d), differences, rtol=0, atol=1e-7)


# --- integration by parts ---------------------------------------------------------------------------------------------

every_term = [*candidates(("u",), "x", 3, derivative_order=5), *candidates(("u", "v"), "xy", 2, derivative_order=3)]


def test_by_parts_is_an_identity():
    import sympy
    axes = dict(zip("xyt", sympy.symbols("x y t")))
    def jet(name, letters):
        value = sympy.Function(name)(*axes.values())
        return sympy.Derivative(value, *(axes[a] for a in letters)) if letters else value
    for term in dict.fromkeys(every_term):
        total = sympy.Integer(0)
        for (moved, monomial), factor in by_parts(term).items():
            inner = sympy.Mul(*(jet(*one)**power for one, power in monomial))
            total += sympy.nsimplify(factor, rational=True)*(inner.diff(*(axes[a] for a in moved)) if moved else inner)
        assert sympy.expand(total.doit() - to_sympy(term, "xyt").doit()) == 0, term


def test_by_parts_keeps_the_number_of_derivatives_and_of_factors():
    for term in every_term:
        for moved, monomial in by_parts(term):
            assert sum(len(letters)*power for (_, letters), power in monomial) + len(moved) == term.order, term
            assert sum(power for _, power in monomial) == sum(power for _, power in term.product), term


def test_by_parts_leaves_at_most_half_of_the_derivatives_of_one_unknown_on_a_factor():
    for term in candidates(("u",), "x", 3, derivative_order=5):
        for _, monomial in by_parts(term):
            assert max((len(letters) for (_, letters), _ in monomial), default=0) <= term.order//2, term


@pytest.mark.parametrize("text, exact", [
    ("u*u_x", True), ("u^2*u_x", True), ("u_xxx", True), ("u^2", True), ("v*u_x", False), ("u*u_xx", False),
])
def test_exact_derivatives(text, exact): assert is_exact_derivative(parse_term(text)) is exact


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


# --- rows -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("options", [
    {}, {"rows": 200}, {"rows": 20}, {"form": "pysindy", "rows": 200}, {"form": "pysindy", "rows": 20},
    {"half_width": {"x": 1.0, "t": 0.8}}, {"form": "pysindy", "half_width": {"x": 3.9, "t": 2.4}, "rows": 500},
])
def test_independent_rows_are_positive_and_at_most_the_rows(noisy, options):
    system = weak(noisy["burgers"], **options)
    assert 0 < system.n_eff <= system.n
    assert options.get("rows") in (None, system.n)


def test_narrower_boxes_are_more_independent(noisy):
    wide, narrow = (weak(noisy["burgers"], half_width={"x": half, "t": half}).n_eff for half in (2.0, 1.0))
    assert narrow > 2*wide


def test_independent_rows_are_boxes_over_the_width_of_their_weight():
    "Along each axis: centers with room for a box, over √(2π) deviations of the weight, half-width/√(2·order + 3)."
    x, t = np.arange(100.0), np.arange(80.0)
    field = as_field(np.random.default_rng(0).standard_normal((100, 80)), x=x, t=t)
    system = weak(field, terms=["u", "u_x"], half_width={"x": 10.0, "t": 8.0}, order={"x": 4, "t": 3})
    along_x, along_t = (100 - 20)*np.sqrt(11)/10, (80 - 16)*np.sqrt(9)/8
    assert system.n_eff == pytest.approx(along_x*along_t/(2*np.pi)) and system.n > 10*system.n_eff


def test_automatic_box_fits(noisy):
    for field in noisy.values():
        for dim, (points, order) in automatic_box(field, 4).items():
            assert 3 <= points <= 0.3*field.sizes[dim] and order > (1 if dim == "t" else 4)


def test_same_seed_same_rows(noisy):
    for form in ("conservative", "pysindy"):
        def drawn(seed): return weak(noisy["burgers"], form=form, rows=100, seed=seed)
        first, again, other = drawn(3), drawn(np.random.default_rng(3)), drawn(4)
        assert np.array_equal(first.X, again.X) and np.array_equal(first.y, again.y)
        assert not np.array_equal(first.y, other.y)


def test_rows_chosen_at_random_are_rows_of_the_whole(noisy):
    whole, some = weak(noisy["burgers"]), weak(noisy["burgers"], rows=50)
    position = {value: i for i, value in enumerate(whole.y)}
    assert all(np.array_equal(whole.X[position[value]], row) for value, row in zip(some.y, some.X))


def test_ten_thousand_boxes_of_the_kdv_size_take_seconds(noisy):
    def build(rows): return weak(noisy["kdv"], derivative_order=4, form="pysindy", rows=rows)
    build(20)
    start = time.perf_counter()
    system = build(10_000)
    assert system.X.shape == (10_000, 14) and time.perf_counter() - start < 10 # PySINDy needs minutes


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


@pytest.mark.parametrize("order", [3, 12, 60])
@pytest.mark.parametrize("d", [0, 1, 2, 4])
def test_bump_keeps_its_digits(order, d):
    import sympy
    if d > order: return
    z = sympy.Symbol("z")
    exact = sympy.diff((1 - z**2)**order, z, d)
    for place in ("-9/10", "-1/3", "1/7", "1/2"):
        value, inside = (float(exact.subs(z, sympy.Rational(at))) for at in (place, "1/11"))
        ours = bump(float(sympy.Rational(place)), order, d)
        assert abs(ours - value) <= 1e-9*max(abs(value), abs(inside))


def test_a_spike_is_no_test_function(noisy):
    with pytest.raises(ValueError, match="`order` along x is 40"): weak(noisy["burgers"], order=40)
