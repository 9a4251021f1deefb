"Equations from texts, one reader of a PDE, and systems that say the same in other words."
import subprocess
import sys

import numpy as np
import pytest

from ubic.ground.checks import ArgumentError
from ubic.language.equations import Equation, PDE, read_pde
from ubic.language.terms import Term, parse_term


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
