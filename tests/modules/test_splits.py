"Held-out rows and blocks: scores by hand, splitters of scikit-learn, published sizes."
import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, KFold, LeaveOneGroupOut, RepeatedKFold, ShuffleSplit

import ubic
from repeated import noisy, published, toy, waves
from signs import heat_waves
from ubic.ground.checks import UbicWarning
from ubic.splits import cross_validate, weak_in_blocks
from ubic.system import LinearSystem

pytestmark = pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")


# --- held-out rows ----------------------------------------------------------------------------------------------------

def by_hand(X, y, train, test, support):
    coef = np.linalg.lstsq(X[train][:, support], y[train], rcond=None)[0]
    rss, n = np.sum((y[test] - X[test][:, support] @ coef)**2), len(test)
    return n*(1 + np.log(2*np.pi*rss/n)) + len(support)*np.log(n)


def test_scores_are_those_computed_by_hand():
    system = toy()
    train, test = np.arange(0, 200, 2), np.arange(1, 200, 2)
    found = cross_validate(system, [(train, test)])
    path = ubic.best_subsets(ubic.LinearSystem(system.X[train], system.y[train]))
    for k, support in enumerate(path.supports):
        assert found.validation[0, k] == pytest.approx(by_hand(system.X, system.y, train, test, list(support)))
        assert found.train[0, k] == pytest.approx(by_hand(system.X, system.y, train, train, list(support)))


def test_splitters_of_scikit_learn():
    system, groups = toy(), np.arange(200)//20
    for splits, count in ((KFold(4), 4), (ShuffleSplit(3, random_state=0), 3), (LeaveOneGroupOut(), 10), (None, 1)):
        found = cross_validate(system, splits, groups=groups if isinstance(splits, LeaveOneGroupOut) else None)
        assert len(found.train) == count and found.table()["splits"].sum() == count and "size" in repr(found)
    assert found.plot() is not None


def test_published_sizes(published):
    splits = {
        "single": None, "RepeatedKFold": RepeatedKFold(n_splits=2, n_repeats=5, random_state=0),
        "ShuffleSplit": ShuffleSplit(10, test_size=0.5, random_state=0),
    }
    found = {
        (name, kind): cross_validate(system, split)
        for name, system in published.items() for kind, split in splits.items()
    }
    for key, one in found.items():
        assert (one.train_size, one.size) == tuple(ubic.recipes.published_splits.loc[key])
    for key, curve in ubic.recipes.published_split_curves.items():
        assert np.allclose(found[key].validation.mean(axis=0)[:len(curve)], curve, atol=0.02)


def test_a_term_that_is_zero_on_the_training_rows():
    X = np.random.default_rng(0).standard_normal((100, 3))
    X[:50, 2] = 0
    with pytest.warns(UbicWarning, match="vanish"):
        found = cross_validate(ubic.LinearSystem(X, X[:, 0] + 0.1*np.random.default_rng(1).standard_normal(100)))
    assert found.sizes.tolist() == [1, 2] and np.isfinite(found.validation).all() and found.size == 1


def test_copies_deceive_random_halves():
    X, source = np.random.default_rng(0).standard_normal((60, 6)), np.repeat(np.arange(60), 5)
    y = X[:, 0] - 0.5*X[:, 1] + 0.3*np.random.default_rng(1).standard_normal(60)
    copies = ubic.LinearSystem(X[source] + 0.01*np.random.default_rng(2).standard_normal((300, 6)), y[source])
    assert cross_validate(copies, GroupShuffleSplit(10, test_size=0.5, random_state=0), groups=source).size == 2
    assert cross_validate(copies, ShuffleSplit(10, test_size=0.5, random_state=0)).size > 2


@pytest.mark.parametrize("wrong, message", [
    (dict(splits=3), "`splits` must be a splitter"), (dict(splits=[]), "`splits` is empty"),
    (dict(splits=[(np.arange(30),)]), "pairs"),
    (dict(splits=[(np.arange(40), np.arange(30, 60))]), "10 rows for training and validation"),
    (dict(splits=[(np.arange(30), np.arange(30, 201))]), "outside 0 to 199"),
    (dict(splits=[(np.arange(5), np.arange(5, 60))]), "more rows than candidates"),
    (dict(splits=[(np.arange(30), [])]), "not empty"),
    (dict(splits=[(np.arange(30.0), np.arange(30, 60))]), "row numbers"),
    (dict(groups=[1, 2]), r"`groups` has shape \(2,\)"), (dict(groups=3), "`groups` has shape"),
    (dict(splits="kfold"), "found 'kfold'"), (dict(splits=[([[1, 2], [3]], [4])]), "several lengths"),
    (dict(max_size=9), "`max_size`"), (dict(solver="simplex"), "`solver`"),
])
def test_odd_splits(wrong, message):
    with pytest.raises((ValueError, TypeError), match=message): cross_validate(toy(), **wrong)


# --- blocks -----------------------------------------------------------------------------------------------------------

def test_rows_of_a_block_know_nothing_of_other_blocks(noisy):
    changed = noisy.copy(deep=True)
    changed.u[:, 40:] += 1.0
    (one, block), (two, _) = (
        weak_in_blocks(field, {"t": 2}, half_width={"x": 0.9, "t": 0.4}) for field in (noisy, changed)
    )
    assert np.array_equal(np.unique(block), [0, 1]) and len(block) == one.n
    assert np.array_equal(one.X[block == 0], two.X[block == 0])
    assert not np.allclose(one.X[block == 1], two.X[block == 1])


def test_a_perfect_fit_has_a_finite_score():
    X = np.random.default_rng(0).standard_normal((50, 3))
    assert np.isfinite(cross_validate(LinearSystem(X, X[:, 0])).table()).all(axis=None)


def test_blocks_at_rest_are_left_out(noisy):
    with pytest.warns(ubic.UbicWarning, match="in 1 of 2 blocks the field is constant"):
        system, block = weak_in_blocks(noisy.where(noisy.t < noisy.t[len(noisy.t)//2], 1.0), {"t": 2})
    assert set(block) == {0} and len(block) == system.n


def test_blocks_repeat(noisy):
    one, two, three = (weak_in_blocks(noisy, 2, rows=50, seed=seed)[0] for seed in (0, 0, 1))
    assert one.n == 200 and np.array_equal(one.X, two.X) and not np.array_equal(one.X, three.X)


@pytest.mark.parametrize("wrong, message", [
    (dict(blocks=1), "one piece"), (dict(blocks={"y": 2}), "no axis 'y'"), (dict(blocks=200), "`blocks` is 200"),
    (dict(blocks=2.5), "`blocks` is 2.5"), (dict(blocks=8), "give fewer blocks"),
    (dict(blocks=2, target="v"), "`target`"),
    (dict(blocks=2, half_width=20.0), "`half_width`"), (dict(blocks=2, target=["u"]), "name one unknown"),
    (dict(blocks=2, derivative_order=None), "`derivative_order`"), (dict(blocks=2, seed=-1), "`seed`"),
])
def test_odd_blocks(noisy, wrong, message):
    with pytest.raises((ValueError, TypeError), match=message): weak_in_blocks(noisy, **wrong)


# --- rows from separate blocks ----------------------------------------------------------------------------------------

def test_independent_rows_of_blocks_add_up():
    "Two halves of a field have the independent rows of the one and of the other."
    field, widths = heat_waves(0), {"x": 0.6, "t": 0.15}
    parts = [field.isel(x=slice(0, 48)), field.isel(x=slice(48, 96))]
    halves = [ubic.library.weak(part, half_width=widths) for part in parts]
    both, block = weak_in_blocks(field, {"x": 2, "t": 1}, half_width=widths)
    assert both.n == sum(half.n for half in halves) == len(block) and halves[0].n_eff > 2
    assert both.n_eff == pytest.approx(halves[0].n_eff + halves[1].n_eff)
