"Weights of boxes and their derivatives."
import numpy as np
import pytest

from ubic.library import bump, difference


def test_bump_derivatives_agree_with_differences():
    z = np.linspace(-1, 1, 2001)
    for d in (1, 2, 3):
        differences = difference(bump(z, 5, d - 1), z[1] - z[0], accuracy=6)
        np.testing.assert_allclose(bump(z, 5, d), differences, rtol=0, atol=1e-7)


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
