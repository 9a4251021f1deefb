"What Bayesian models see of a system, by hand."
import numpy as np
import pytest

from signs import two_terms
from ubic.bayes.sampling import likelihood


@pytest.mark.parametrize("mode, rows", [("paper", 64), ("unit_free", 16)])
def test_a_likelihood_counts_rows_and_keeps_the_fit(mode, rows):
    "The target is h1 + 0.5 h2 + 0.1 h3 in 64 rows, of which 16 are independent; the paper counts all."
    like = likelihood(two_terms(0.5, 0.1, n_eff=16), mode)
    assert like.n == rows and like.names == ["h1", "h2"]
    unit, target = like.unit, like.target_unit
    np.testing.assert_allclose(like.R.T @ like.R*np.outer(1/unit, 1/unit)*target**2, rows*np.eye(2), atol=1e-12)
    np.testing.assert_allclose(like.estimate*unit, [1, 0.5])
    assert like.noise_variance*target**2 == pytest.approx(0.1**2)


@pytest.mark.parametrize("n_eff, rows", [(None, 64), (16, 16), (4, 4)])
def test_a_bayesian_model_sees_as_many_rows_as_are_independent(n_eff, rows):
    "The squares of a column of unit size sum up to the number of rows that are counted."
    like = likelihood(two_terms(0.5, 0.1, rows=64, n_eff=n_eff))
    np.testing.assert_allclose(like.R.T @ like.R, rows*np.eye(2), atol=1e-12*rows)
    assert like.q @ like.q == pytest.approx(rows) and like.n == rows
