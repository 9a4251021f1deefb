"Paths of subsets: fits, what is projected out and what leaving out costs, by hand."
import numpy as np

from signs import two_terms
from ubic.search.paths import fit_subset, path_of, project_out


def test_a_path_holds_the_fits_of_its_subsets():
    "The target is h1 + 0.5 h2 + 0.25 h3: without h2 and h3, 0.5² + 0.25² are left of each row."
    system = two_terms(0.5, 0.25)
    path = path_of(system, [[0], [1, 0]], solver="by hand")
    assert path.supports == [(0,), (0, 1)] and path.sizes.tolist() == [1, 2] and path.solver == "by hand"
    np.testing.assert_allclose(np.concatenate(path.coef), [1, 1, 0.5])
    np.testing.assert_allclose(path.rss, [64*(0.5**2 + 0.25**2), 64*0.25**2])
    np.testing.assert_allclose(path.table()["unexplained"].iloc[-1], 0.25**2/(1 + 0.5**2 + 0.25**2))


def test_a_path_tells_its_largest_gap():
    path = path_of(two_terms(0.5, 0.1), [(0,), (0, 1)], solver="exact", exact=False, certificate={"gap": [0.25, 0.5]})
    assert "gap at most 50.00%" in repr(path)


def test_a_column_that_is_a_combination_of_others_gets_no_coefficient():
    unit = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.8, -0.6, 0.0], [0.0, 0.8, 0.6]])
    coef, left = fit_subset(unit, np.array([0, 1, 2]))
    assert coef[2] == 0 and left == np.float64(0.6)**2
    np.testing.assert_allclose(coef[:2] @ unit[:2], [0, 0.8, 0])


def test_what_is_projected_out_is_gone():
    rows = np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 1.0]])
    into = rows.copy()
    project_out(rows, 0, 1, into)
    np.testing.assert_allclose(into, [[3, 4], [0.64, -0.48], [-0.48, 0.36]])
