"Products of derivatives and derivatives of any product on every road: rows, values, simulations, noise."
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
import xarray as xr

import ubic
from ubic.choice.refit import Refitter, noise_operator
from ubic.field import as_field
from ubic.ground.checks import ArgumentError
from ubic.language.equations import PDE, Equation, LeftSide, coefficient_error, read_pde
from ubic.language.terms import Jet, Product, Term, by_parts, candidates, merge_equal, parse_term, simplest, to_sympy
from ubic.library import strong, weak
from ubic.paper.accuracy import denoised_weak_form
from ubic.trial.assimilation import Twin
from ubic.trial.engines import dedalus_equation

NEW = (
    "u_x^2", "u_x*u_xx", "u*u_x*v_xx", "(u*u_x)_x", "(u*v_x)_x", "(u_x^2)_xx", "u*u_x*u_xxx", "v*u_x^3", "u_x*v_x",
    "(u^2*v_x)_x", "(v*u_x)_xx",
)
STATES = {"u": "sin(x + t/3) + 1/2", "v": "cos(2*x - t)"}
x, t = sympy.symbols("x t")


def exact(term):
    "The formula of a term for the two waves."
    formula = to_sympy(term, "xt")
    for name, text in STATES.items(): formula = formula.subs(sympy.Function(name)(x, t), sympy.sympify(text))
    return sympy.lambdify((x, t), formula.doit(), "numpy")


def waves(points=257, times=65):
    "The two waves, and the exact value of each new term as an unknown of its own."
    X, T = np.linspace(0, 2*np.pi, points), np.linspace(0, 2, times)
    grid = X[:, None], T
    fields = {name: exact(Term.parse(name))(*grid) for name in STATES}
    fields |= {f"q{i}": exact(parse_term(text))(*grid) for i, text in enumerate(NEW)}
    return as_field({name: np.broadcast_to(values, (points, times)) for name, values in fields.items()}, x=X, t=T)


def columns(system): return dict(zip(map(str, system.terms), system.X.T))


def apart(one, other): return np.abs(one - other).max()/np.abs(other).max()


# --- rows -------------------------------------------------------------------------------------------------------------

ROADS = {
    "conservative": (lambda field, terms: weak(field, "u", terms=terms, half_width={"x": 0.5, "t": 0.4}), 0.01),
    "pysindy": (lambda field, terms: weak(field, "u", terms=terms, form="pysindy", rows=200, accuracy=6), 0.01),
    "strong": (lambda field, terms: strong(field, "u", terms=terms, accuracy=6), 1e-5),
}


@pytest.mark.filterwarnings("ignore:these terms are combinations")
@pytest.mark.parametrize("road", ROADS)
def test_rows_are_integrals_of_the_exact_values(road):
    make, tolerance = ROADS[road]
    found = columns(make(waves(), [*NEW, *(f"q{i}" for i in range(len(NEW)))]))
    for i, text in enumerate(NEW): assert apart(found[text], found[f"q{i}"]) < tolerance, text


@pytest.mark.filterwarnings("ignore:these terms are combinations")
@pytest.mark.parametrize("road", ROADS)
def test_half_the_second_derivative_of_a_square(road):
    found = columns(ROADS[road][0](waves(), ["(u*u_x)_x", "(u^2)_xx"]))
    assert apart(2*found["(u*u_x)_x"], found["(u^2)_xx"]) < (0.01 if road == "pysindy" else 1e-9)


def test_rows_against_fine_quadrature():
    field, half = waves()[["u", "v"]], {"x": 32*2*np.pi/256, "t": 12*2/64}
    system = weak(field, "u", terms=list(NEW), half_width=half, order=5)
    centers = [field[dim].values[n:field.sizes[dim] - n] for dim, n in (("x", 32), ("t", 12))]
    nodes, weights = np.polynomial.legendre.leggauss(40)
    bump = weights*(1 - nodes**2)**5
    for text, column in columns(system).items():
        value, rows = exact(parse_term(text)), column.reshape(*map(len, centers))
        for i, j in ((0, 0), (50, 7), (-1, -1)):
            along = [centers[0][i] + half["x"]*nodes[:, None], centers[1][j] + half["t"]*nodes]
            integral = half["x"]*half["t"]*(bump @ value(*along) @ bump)
            assert abs(rows[i, j] - integral) < 0.01*np.abs(rows).max(), text


def test_a_field_that_is_flat_along_an_axis():
    X, Y, T = np.linspace(0, 6, 48), np.linspace(0, 6, 40), np.linspace(0, 2, 30)
    u = np.sin(X[:, None, None] + T)*np.ones((1, 40, 1))
    terms = ["u_x^2", "u_y^2", "u_x*u_y", "(u*u_x)_y", "(u*u_x)_x"]
    with pytest.warns(ubic.UbicWarning, match=r"vanish on these data: u_y\^2, u_x\*u_y, \(u\*u_x\)_y\."):
        system = weak(as_field({"u": u}, x=X, y=Y, t=T), terms=terms)
    assert list(map(str, system.terms)) == ["u_x^2", "(u*u_x)_x"]


def test_what_a_field_does_not_know_is_refused():
    field = waves(65, 33)[["u", "v"]]
    with pytest.raises(ValueError, match=r"`terms` has u_y\^2, but the field has no space axis 'y'"):
        weak(field, "u", terms=["u_y^2"])
    with pytest.raises(ValueError, match=r"`terms` has u\*u_t, but time derivatives of order 1"):
        weak(field, "u", terms=["u*u_t"])
    with pytest.raises(ValueError, match="but the field has no 'w'"): weak(field, "u", terms=["(u*w_x)_x"])
    with pytest.raises(ValueError, match="`order` along x is 2.*at least 3"):
        weak(field, "u", terms=["(u_x^2)_xx"], order={"x": 2})
    with pytest.raises(ValueError, match=r"`terms` has u_x\^2, which keeps a derivative of the data"):
        denoised_weak_form(field, ["u_x^2"], "u")


# --- simulations ------------------------------------------------------------------------------------------------------

def growth(times):
    "h = log(1 + a·exp(-t)·cos(x)), a solution of h_t = h_xx + h_x^2."
    X = np.arange(64)*2*np.pi/64
    return as_field({"h": np.log(1 + 0.5*np.exp(-times)*np.cos(X)[:, None])}, x=X, t=times)


def test_a_growing_surface_is_simulated_and_found():
    field = growth(np.linspace(0, 1, 41))
    run = ubic.simulate("h_t = h_xx + h_x^2", field)
    np.testing.assert_allclose(run.h, field.h, atol=1e-8)
    for road in (weak, strong):
        system = road(field, terms=["h_xx", "h_x^2", "h", "h*h_x"])
        coefficients = np.linalg.lstsq(system.X, system.y, rcond=None)[0]
        np.testing.assert_allclose(coefficients, [1, 1, 0, 0], atol=0.01)


@pytest.mark.parametrize("one, other", [
    ({"(u*u_x)_x": 0.2, "u_xxxx": -0.01}, {"(u^2)_xx": 0.1, "u_xxxx": -0.01}),
    ({"(u_x^2)_xx": 0.01, "u_xx": 0.5}, {"u_xx^2": 0.02, "u_x*u_xxx": 0.02, "u_xx": 0.5}),
    ({"(u*u_xx)_x": 0.01, "u_xx": 0.5}, {"u_x*u_xx": 0.01, "u*u_xxx": 0.01, "u_xx": 0.5}),
])
def test_two_spellings_of_one_equation_run_alike(one, other):
    X = np.arange(64)*2*np.pi/64
    frame = xr.Dataset({"u": ("x", 1.5 + np.cos(X))}, {"x": X})
    runs = [ubic.simulate(pde, frame, np.linspace(0, 0.2, 3)) for pde in (one, other)]
    np.testing.assert_allclose(runs[0].u, runs[1].u, atol=1e-7)
    assert PDE.read(one, ["u"]).same_as(other)


def test_dedalus_is_told_all_factors():
    texts = "u_x^2", "u*u_x*v_xx", "(u*u_x)_x", "(u_x^2)_xx"
    sides = [dedalus_equation("u", {parse_term(text): 2.0})[1] for text in texts]
    assert sides == [
        "(2.0)*dx(u)*dx(u)", "(2.0)*u*dx(u)*dx(dx(v))", "(1.0)*dx(dx(u*u))", "(2.0)*dx(dx(dx(u)*dx(u)))",
    ]


def test_units_of_a_term():
    twin = SimpleNamespace(units={"u": 2.0, "v": 3.0, "x": 5.0, "t": 7.0})
    sizes = {"u_x^2": 4/25, "u*u_x*v_xx": 12/125, "(u_x^2)_xx": 4/625, "u_t": 2/7, "1": 1}
    for text, size in sizes.items(): assert Twin.size(twin, parse_term(text)) == pytest.approx(size)


# --- noise ------------------------------------------------------------------------------------------------------------

def test_noise_enters_rows_as_their_slope_says():
    field, coef = waves(129, 41)[["u", "v"]], np.linspace(-1, 1, len(NEW))
    terms, refitter = list(map(parse_term, NEW)), Refitter(field, "u", {"x": (20, 6), "t": (10, 4)})
    X, T = field.x.values[:, None], field.t.values
    change = {"u": np.cos(2*X + T), "v": np.sin(X - T)}
    def residual(size):
        state = {name: u + size*change[name] for name, u in refitter.measured.items()}
        rows, target, _ = refitter.system(state, terms)
        return target - rows @ coef
    slope = (residual(1e-4) - residual(-1e-4))/2e-4
    operators = noise_operator(refitter.target, terms, coef, refitter.system(refitter.measured, terms)[2])
    told = refitter.boxes(
        (axes, piece*change[name], 1.0) for name, pieces in operators.items() for axes, piece in pieces.items()
    )
    assert apart(told, slope) < 0.02


# --- spellings --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("text", NEW)
def test_new_terms_are_read_back(text):
    term = parse_term(text)
    assert parse_term(str(term)) == term and hash(parse_term(str(term))) == hash(term)
    assert Equation.parse(f"u_t = 2*{text}").terms == (term,)


@pytest.mark.parametrize("text, latex", [
    ("u_x^2", "u_{x}^{2}"), ("u_x*u", "u u_{x}"), ("(u*u_x)_x", "(u u_{x})_{x}"), ("u_x*v", "v u_{x}"),
    ("(u_x^2)_xx", "(u_{x}^{2})_{xx}"),
])
def test_new_terms_in_print(text, latex): assert ubic.terms.latex(parse_term(text)) == latex


@pytest.mark.parametrize("text, sentence", [
    ("u*(u^2)_x", "beside other factors; write the derivative out"), ("(u*v)_x*w", "beside other factors"),
    ("((u^2)_x)_x", "not a power or a derivative"), ("(1)_x", "differentiates '1'"), ("u_x^21", "has the power 21"),
    ("u_x^11*u_x^11", "has the power 22"), (f"(u_x^2)_{'x'*16}", "a derivative of order 17"), ("u_x^", "not a power"),
])
def test_what_cannot_be_read(text, sentence):
    with pytest.raises(ArgumentError) as caught: parse_term(text)
    assert sentence in str(caught.value) and str(caught.value).count(".") == 1


def test_a_term_is_made_of_a_product():
    with pytest.raises(TypeError, match="`product` is .*write Term.of"): Term((("u", 1),), ("u", "x"))
    assert Term.of() == Term() == parse_term("1") and Term.of(Jet("u"), Jet("u")) == parse_term("u^2")
    assert Term(Product.of({Jet("u", "x"): 2}), "x") == parse_term("(u_x^2)_x")


EVERY = [
    *candidates("uv", "x", 3, derivative_order=2), *candidates("u", "xy", 2, derivative_order=3, fluxes=True),
    *map(parse_term, NEW), *(parse_term(f"({text})_x") for text in ("u*u_xx", "u_x*u_xx", "u*v", "u_x*v", "u^2*u_x")),
    *(parse_term(f"(u*u_{a})_{b}") for a in "xy" for b in ("x", "y", "xy")), parse_term("(u_x*u_xy)_x"),
]


def test_multiples_have_one_simplest_spelling():
    for i, one in enumerate(EVERY):
        for other in EVERY[:i]:
            assert (one.multiple_of(other) is not None) == (simplest(one)[0] == simplest(other)[0]), (one, other)


def test_the_number_of_the_simplest_spelling():
    for term in EVERY:
        plain, number = simplest(term)
        assert term.multiple_of(plain) == number and simplest(str(plain)) == (plain, 1)
    mixed = parse_term("(u^2)_xy"), Fraction(1, 2)
    assert simplest("(u*u_x)_y") == simplest("(u*u_y)_x") == mixed


def test_the_first_of_equal_terms_is_kept():
    assert merge_equal(["(u^2)_x", "u", "u*u_x", "u"]) == [parse_term("(u^2)_x"), parse_term("u")]
    assert merge_equal(candidates("uv", "xy", 3)) == candidates("uv", "xy", 3)


def test_pieces_have_the_outer_derivative():
    assert by_parts(parse_term("(u_x^2)_xx")) == {("xx", ((("u", "x"), 2),)): 1.0}
    assert by_parts(parse_term("(u*v_x)_y")) == {("y", ((("u", ""), 1), (("v", "x"), 1))): 1.0}


# --- equations --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("found, truth, errors", [
    ({"(u^2)_x": -0.5}, {"u*u_x": -1}, [0]), ({"u*u_x": -1.1}, {"(u^2)_x": -0.5}, [10]),
    ({"(u*u_x)_x": 2, "u": 1}, {"u": 2, "(u^2)_xx": 1}, [50, 0]),
    ({"(u^2)_x": -0.25, "u*u_x": -0.5}, {"u*u_x": -1}, [0]),
    ({"(u^2)_xx": 1}, {"u*u_xx": 1}, [np.inf]), ({"heat": 1.5}, {"heat": 1}, [50]),
])
def test_errors_of_coefficients_do_not_depend_on_spelling(found, truth, errors):
    np.testing.assert_allclose(coefficient_error(found, truth), errors, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("text, left", [
    ("u", LeftSide("u")), ("u_t", LeftSide("u")), ("u_tt", LeftSide("u", 2)), ("psi2_tt", LeftSide("psi2", 2)),
    ("u_x", LeftSide("u_x", 0)), ("my_label", LeftSide("my_label", 0)), ("du/dt", LeftSide("du/dt", 0)),
    ("", LeftSide("", 0)),
])
def test_left_sides(text, left):
    assert LeftSide.read(text) == left == LeftSide.read(str(left)) == LeftSide.read(left.key)
    if left.order: assert parse_term(str(left)) == left.term and LeftSide.read(left.term) == left


@pytest.mark.parametrize("text, terms", [
    ("u_x*0.5", {"u_x": 0.5}), ("u_xx/10", {"u_xx": 0.1}), ("-u_xx / 4 + u^2*3", {"u_xx": -0.25, "u^2": 3}),
    ("u_x*1e-3 - u/2e2", {"u_x": 1e-3, "u": -0.005}), ("1/10*u_xx", {"u_xx": 0.1}), ("2*u*u_x/4", {"u*u_x": 0.5}),
    ("u**2*2", {"u^2": 2}), ("u**2", {"u^2": 1}), ("(u*u_x)_x/2 - 3/4", {"(u*u_x)_x": 0.5, "1": -0.75}),
    ("u_x*2*3", {"u_x": 6}), ("u_x/2/5", {"u_x": 0.1}), ("u_x^2*.5", {"u_x^2": 0.5}), ("u*1", {"u": 1}),
])
def test_numbers_behind_terms(text, terms):
    right, = read_pde(f"u_t = {text}", ["u"]).values()
    assert {str(term): number for term, number in right.items()} == terms


@pytest.mark.parametrize("text", ["u_xx/0", "1/0*u", "u/v", "u/", "u*", "/2", "u*2*v", "2*/3"])
def test_what_is_no_number_behind_a_term(text):
    with pytest.raises(ArgumentError) as caught: Equation.parse(f"u_t = {text}")
    assert str(caught.value).startswith(("`equation` ", "`term` "))
