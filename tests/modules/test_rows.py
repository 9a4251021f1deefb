"Rows of a library: how many count as independent, and which are drawn."
import numpy as np
import pytest

from libraries import noisy
from ubic.field import as_field
from ubic.library import weak
from ubic.weakform.rows import RandomRows


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


def test_ten_thousand_boxes_of_the_kdv_size_differentiate_the_field_once(noisy, monkeypatch):
    "PySINDy needs minutes, because it begins anew for every box."
    parts, stack = [], RandomRows.stack

    def counted(rows, part):
        parts.append(dict(part.sizes))
        return stack(rows, part)

    monkeypatch.setattr(RandomRows, "stack", counted)
    system = weak(noisy["kdv"], derivative_order=4, form="pysindy", rows=10_000)
    assert system.X.shape == (10_000, 14) and parts == [dict(noisy["kdv"].sizes)]
