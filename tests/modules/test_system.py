"Linear systems: sums of squares by hand, with rows and without."
import numpy as np
import pytest

from signs import two_terms
from ubic.weakform.system import from_triangle


def test_a_triangle_has_the_sums_of_squares_of_its_rows():
    "The target is h1 + 0.5 h2 + 0.25 h3 in 64 rows of columns of 1 and -1, any two of them orthogonal."
    system = two_terms(0.5, 0.25)
    sums = np.array([[64, 0, 64], [0, 64, 32], [64, 32, 64*(1 + 0.5**2 + 0.25**2)]])
    np.testing.assert_allclose(system.R.T @ system.R, sums, atol=1e-12)
    lengths = np.sqrt(sums.diagonal())
    np.testing.assert_allclose(system.unit @ system.unit.T, sums/np.outer(lengths, lengths), atol=1e-12)
    assert (system.n, system.p, system.kept, system.dependent) == (64, 2, True, [])


def test_a_part_of_a_system_and_its_triangle_fit_as_the_whole_does():
    system = two_terms(0.5, 0.25)
    part = system.only(["h2"])
    assert list(map(str, part.terms)) == ["h2"] and np.array_equal(part.X, system.X[:, 1:])
    reduced = from_triangle(system.R, system.n, system.terms)
    assert not reduced.kept
    np.testing.assert_array_equal(reduced.unit, system.unit)
    with pytest.raises(ValueError, match="the 64 rows of this system were not kept"): reduced.X
