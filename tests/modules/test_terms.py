"What a term is when it is written out, integrated by parts, and compared with another."
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy

from ubic.language.terms import (
    Call, Jet, Product, Term, by_parts, candidates, combinations_among, evaluate, expanded, expanded_difference,
    expanded_sum, expansion, is_exact_derivative, parse_term, same_sums, to_sympy,
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


def test_derivatives_of_products_agree_with_the_product_rule():
    values = {"u": np.array([1.2, -0.7]), "v": np.array([0.3, 2.0])}
    jets = {("u", "x"): np.array([0.5, 1.0]), ("u", "xx"): np.array([-1.0, 0.2]), ("v", "x"): np.array([2.0, -3.0])}
    def derivative(name, axes): return jets[name, axes]
    cubic = 3*values["u"]**2*jets["u", "xx"] + 6*values["u"]*jets["u", "x"]**2
    product = values["u"]*jets["v", "x"] + values["v"]*jets["u", "x"]
    np.testing.assert_allclose(evaluate(Term.parse("(u^3)_xx"), values, derivative), cubic)
    np.testing.assert_allclose(evaluate(Term.parse("(u*v)_x"), values, derivative), product)
    assert by_parts(Term.parse("(u*v)_xx")) == {("xx", ((("u", ""), 1), (("v", ""), 1))): 1.0}


# --- combinations -----------------------------------------------------------------------------------------------------

COMBINED = {
    "multiple": (["u*u_x", "(u^2)_x"], {"u*u_x": 2}),
    "product rule": (["(u*v)_x", "v*u_x", "u*v_x"], {"(u*v)_x": 1, "v*u_x": -1}),
    "square of a slope": (["u_xx", "(u^2)_xx", "u*u_xx", "u_x^2"], {"(u^2)_xx": Fraction(1, 2), "u*u_xx": -1}),
}


@pytest.mark.parametrize("names, made", COMBINED.values(), ids=COMBINED)
def test_the_last_is_a_combination_of_earlier_ones(names, made):
    found = combinations_among(names)
    assert found == {parse_term(names[-1]): {parse_term(name): number for name, number in made.items()}}


def test_a_term_without_its_like_is_no_combination():
    assert combinations_among(["u", "u_x", "u*u_x", "u_xx", "u*u_xx", "u_x^2"]) == {}


@pytest.mark.parametrize("order", [range(22), reversed(range(22))], ids=["forward", "backward"])
def test_combinations_hold_when_written_out(order):
    "By the expansions of both sides, whatever comes first; as many terms are left as are independent."
    both = [*candidates(("u", "v"), derivative_order=2, power=2), *candidates(("u", "v"), fluxes=True, power=2)]
    several = list(dict.fromkeys(both))[:22]
    found = combinations_among([several[i] for i in order])
    for term, made in found.items():
        total = {product: Fraction(count) for product, count in term.expanded().items()}
        for other, number in made.items(): total = expanded_difference(total, other.expanded(), number)
        assert total == {} and not set(made) & set(found)
    assert len(found) == len(combinations_among(several))


def test_what_cancels_is_gone():
    assert expanded_difference({"a": 2, "b": 1}, {"a": 1, "c": 3}, 2) == {"b": 1, "c": -6}
