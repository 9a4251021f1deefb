"What a term is when it is written out, equations from texts, and systems that say the same in other words."
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
import sympy

from ubic.ground.checks import ArgumentError
from ubic.language.equations import PDE, Equation, read_pde
from ubic.language.terms import (
    Call, Jet, Product, Term, by_parts, candidates, evaluate, expanded, expanded_sum, expansion, parse_term, same_sums,
    to_sympy,
)

x, y, t = sympy.symbols("x y t")
FLUXES = candidates(("u", "v"), "xy", 3, derivative_order=3, fluxes=True)
PLAIN = candidates(("u", "v"), "xy", 2, derivative_order=3, constant=True)


def formula(product):
    "A product as SymPy has it, in functions of x, y and t."
    total = sympy.Integer(1)
    for factor, power in product:
        jet = factor.of if isinstance(factor, Call) else factor
        value = sympy.Function(jet.unknown)(x, y, t)
        for axis in jet.axes: value = sympy.diff(value, axis)
        if isinstance(factor, Call): value = getattr(sympy, factor.function)(value)
        total *= value**power
    return total


def total(terms): return sum(count*formula(product) for product, count in terms.items())


# --- expansions -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("term", [*FLUXES[::5], *PLAIN[::7]], ids=str)
def test_expansions_are_those_of_sympy(term):
    assert sympy.expand(total(term.expanded()) - to_sympy(term, "xyt").doit()) == 0
    assert all(type(count) is int for count in term.expanded().values())


@pytest.mark.parametrize("axes", ["x", "xx", "xy", "xxy"])
@pytest.mark.parametrize("powers", [
    {Call("sin", Jet("u")): 1}, {Call("exp", Jet("u", "x")): 2, Jet("v"): 1}, {Call("cos", Jet("u")): 3, Jet("u"): 1},
    {Call("sinh", Jet("v")): 1, Call("cosh", Jet("u")): 1}, {Jet("u", "x"): 2, Jet("v", "xy"): 1},
], ids=lambda powers: str(Product.of(powers)))
def test_functions_follow_the_chain_rule(powers, axes):
    product = Product.of(powers)
    assert sympy.expand(total(expansion(product, axes)) - sympy.diff(formula(product), *axes)) == 0


def test_what_cancels_is_not_there():
    assert expanded_sum({"(u^2)_x": 1, "u*u_x": -2, "u_xx": 1}) == {Product.of({Jet("u", "xx"): 1}): 1}
    assert expanded_sum({"(u^2)_x": 0.5, "u*u_x": -1.0}) == {}


def test_products_meet_and_are_plain_tuples():
    one = Product.of({Jet("u", "x"): 1, Jet("u"): 2, Jet("v"): 0})
    assert one == ((("u", ""), 2), (("u", "x"), 1)) and hash(one) == hash(tuple(one)) and str(one) == "u^2*u_x"
    assert pickle.loads(pickle.dumps(one)) == one and type(pickle.loads(pickle.dumps(one))) is Product
    assert str(Product.of({})) == "1" and Product.of({}).order == -1
    assert str(Product.of({Call("sin", Jet("u")): 1, Jet("z"): 1})) == "z*sin(u)"


@pytest.mark.parametrize("term", FLUXES[::7], ids=str)
def test_values_are_those_of_the_expansion(term):
    rng = np.random.default_rng(0)
    values = {name: rng.standard_normal(4) for name in "uv"}
    slopes = {}
    def differentiate(name, axes): return slopes.setdefault((name, axes), rng.standard_normal(4))
    def value(jet): return differentiate(*jet) if jet.axes else values[jet.unknown]
    def product_of(product): return np.prod([value(jet)**power for jet, power in product], axis=0)
    by_hand = sum(count*product_of(product) for product, count in term.expanded().items())
    assert np.allclose(evaluate(term, values, differentiate), by_hand, rtol=1e-12)
    assert all(type(count) is float for count in expanded(term).values())


@pytest.mark.parametrize("term", [*FLUXES[::9], *PLAIN[::5]], ids=str)
def test_pieces_of_integration_by_parts_give_the_term_back(term):
    whole = {}
    for (axes, product), coefficient in by_parts(term).items():
        for one, count in expansion(product, axes).items():
            whole[one] = whole.get(one, 0) + Fraction(coefficient).limit_denominator(10**6)*count
    assert {one: number for one, number in whole.items() if number} == term.expanded()


# --- equal and the same -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("one, other, number", [
    ("(u^2)_x", "u*u_x", 2), ("u*u_x", "(u^2)_x", Fraction(1, 2)), ("(u^3)_x", "u^2*u_x", 3), ("u", "u", 1),
    ("(u^2)_xx", "u*u_xx", None), ("(u*v)_x", "u*v_x", None), ("u", "v", None), ("1", "1", 1), ("u_yx", "u_xy", 1),
    ("(u*v)_xy", "(v*u)_yx", 1), ("(u^2*v)_x", "(u*v)_x", None),
])
def test_multiples(one, other, number):
    found = Term.parse(one).multiple_of(other)
    assert found == number and Term.parse(one).multiple_of(Term.parse(other)) == number
    assert found is None or isinstance(found, Fraction)


def test_terms_are_equal_if_they_are_spelled_alike():
    conservative, plain = Term.parse("(u)_x"), Term.parse("u_x")
    assert conservative == plain
    conservative, plain = Term.parse("(u^2)_x"), Term.parse("u*u_x")
    assert conservative != plain and len({conservative: 1, plain: 2}) == 2
    assert pickle.loads(pickle.dumps(conservative)) == conservative
    assert hash(conservative) == hash(parse_term("(u^2)_x"))


def test_sums_that_say_the_same():
    assert same_sums({"(u*v)_x": 3}, {"u*v_x": 3, "v*u_x": 3.0})
    assert same_sums({"(u^2)_x": 0.1}, {"u*u_x": 0.2}) and not same_sums({"(u^2)_x": 0.1}, {"u*u_x": 0.2001})
    assert same_sums({"(u^2)_x": 0.1}, {"u*u_x": 0.2001}, tolerance=0.01)
    assert same_sums({}, {"u": 0}) and not same_sums({}, {"u": 1e-300})
    assert not same_sums({"u": np.nan}, {"u": 1})


# --- equations from texts ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("text, pde", [
    ("u_t = -u*u_x + 0.1*u_xx", {"u_t": {"u*u_x": -1, "u_xx": 0.1}}), ("u_t=2", {"u_t": {"1": 2}}),
    ("u_tt = 4 u_xx - 1.5e-3 u^3", {"u_tt": {"u_xx": 4, "u^3": -1.5e-3}}), ("u_t = 0", {"u_t": {}}),
    ("u_t = .5*(u^2)_xx-3.*u", {"u_t": {"(u^2)_xx": 0.5, "u": -3}}), ("u = + u", {"u": {"u": 1}}),
    ("u_t = 0.10129 (± 0.00012) u_xx - 1e+2 (± 3.0e-01) u", {"u_t": {"u_xx": 0.10129, "u": -100}}),
])
def test_texts(text, pde):
    equation = Equation.parse(text)
    (left, right), = pde.items()
    assert equation.pde() == {left: {parse_term(term): value for term, value in right.items()}}
    assert str(Equation.parse(str(equation))) == str(equation)


@pytest.mark.parametrize("text", [
    "u_xx", "", "u_t = u_xx + - u", "u_t = u_xx +", "u_t = 2 3", "u_t = u = u_xx", "u_t = sin(u)", "u_t = u_q",
    "u_t = (± 2)", "u_t = 0.1 (± x) u", "u_t = 1..2 u", "u_t = é", "u_t = u_xx u",
])
def test_texts_that_are_no_equation(text):
    with pytest.raises(ArgumentError) as caught: Equation.parse(text)
    assert str(caught.value).startswith(("`equation` ", "`term` ")) and str(caught.value).endswith(".")


# --- one reader of a PDE ----------------------------------------------------------------------------------------------

class Known:
    "Something that knows its PDE."
    def pde(self): return {"u_t": {Term.parse("u_xx"): 0.1, Term.parse("u*u_x"): -1.0}}


@pytest.mark.parametrize("given", [
    {"u_xx": 0.1, "u*u_x": -1}, {"u": {"u_xx": 0.1, "u_x*u": -1}}, {"u_t": {"u_xx": np.float32(0.1), "u*u_x": -1}},
    Known(),
    "u_t = 0.1*u_xx - u*u_x", " u_t = -u*u_x + 0.1 u_xx;\n", Equation.parse("u_t = 0.1*u_xx - u*u_x"),
])
def test_all_ways_to_give_a_pde(given):
    equations, = read_pde(given, ["u"]).items()
    unknown, right = equations
    assert unknown == "u" and set(map(str, right)) == {"u_xx", "u*u_x"} and right[parse_term("u*u_x")] == -1
    assert all(type(number) is float for number in right.values())
    assert PDE.read(given, ["u"]).same_as(Known(), 1e-6) and PDE.read(Known(), ["u"]).same_as(given, 1e-6)


@pytest.mark.parametrize("given, kind, sentence", [
    ("u_xx", TypeError, "`pde` must be a mapping such as {'u': {'u_xx': 0.1}}, found 'u_xx'."),
    ({}, TypeError, "`pde` must be a mapping such as {'u': {'u_xx': 0.1}}, found {}."),
    ({"u": {"u_q": 1}}, ValueError, "the `pde` term 'u_q' has a part 'u_q' that is not a power or a derivative; "
     "write it like 'u', 'u^2', 'u_xx', 'u*u_x', '(u^2)_xx' or '1'."),
    ({"u": {3: 1}}, TypeError, "the `pde` term must be a string, found int; write it like 'u*u_x'."),
    ({"u": {"u*u_x": 1, "u_x*u": 1}}, ValueError, "`pde` has the term u*u_x more than once; add its coefficients."),
    ({"u": {"u": np.inf}}, ValueError, "`pde` has the coefficient inf for u; it must be a finite number."),
    ({"u_ttt": {"u": 1}}, ValueError,
     "`pde` is about 'u_ttt'; it can be about an unknown such as 'u', or about 'u_tt'."),
    ({"u": {"u": 1}, "u_t": {"u": 1}}, ValueError, "`pde` has more than one equation for u; keep one."),
    ({"v": {"u": 1}}, ValueError, "`pde` is about ['v'], which `initial` does not have; it has ['u']."),
])
def test_sentences_about_a_pde(given, kind, sentence):
    with pytest.raises(kind) as caught: read_pde(given, ["u"])
    assert str(caught.value) == sentence and isinstance(caught.value, ArgumentError)


def test_a_sentence_about_a_pde_names_where_the_unknowns_are():
    with pytest.raises(ValueError) as caught: PDE.read({"u_xx": 1}, ["u", "v"], "field")
    assert str(caught.value) == "`pde` has no unknowns as keys but `field` has ['u', 'v']; write {'u': {...}, ...}."
    told = caught.value.sentence(lambda argument: f"--{argument.name}")
    assert told == "--pde has no unknowns as keys but --field has ['u', 'v']; write {'u': {...}, ...}."


def test_systems_that_say_the_same():
    system = PDE.read({"u": {"v*u_x": 1, "u*v_x": 1}, "v_tt": {"v_xx": 4}}, ["u", "v"])
    assert system.same_as({"v_tt": {"v_xx": 4}, "u_t": {"(u*v)_x": 1}})
    assert not system.same_as({"v_t": {"v_xx": 4}, "u_t": {"(u*v)_x": 1}}) and not system.same_as("u_t = u_x")
    assert Equation.parse("u_t = (u^2)_x").same_as("u = 2*u*u_x")
    assert not Equation.parse("u_t = u").same_as("v_t = u")


def test_the_language_is_light():
    heavy = "import ubic.language.equations, sys; print(*({'sympy', 'matplotlib', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True).stdout == "\n"
