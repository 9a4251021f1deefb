"""What version 0.1.0 saved, one file of each kind, is read by every later version and shows what it showed then."""
import json
from pathlib import Path

import numpy as np
import pytest

import ubic
from ubic.ground.results import KINDS

FOLDER = Path(__file__).with_name("saved_by_0_1_0")
TOLD = json.loads((FOLDER / "told.json").read_text(encoding="utf-8"))
NEEDS = {"CoefficientPosterior": "arviz", "SpikeSlab": "arviz", "TrainedNetwork": "torch"}


@pytest.mark.parametrize("kind", TOLD)
def test_file_is_read_and_shows_what_it_showed(kind):
    if kind in NEEDS: pytest.importorskip(NEEDS[kind])
    told = TOLD[kind]
    found = ubic.load_result(FOLDER / f"{kind}.npz")
    assert type(found).__name__ == told["type"]
    if told["repr"]: assert repr(found) == told["repr"]
    if told["table"]: assert found.table().to_csv() == told["table"]


def test_values_that_are_no_results_are_read_too():
    found = ubic.load_result(FOLDER / "values.npz")
    assert found["field"].attrs["title"] == "waves" and found["field"].u.shape == (24, 25)
    assert found["table"]["formula"].tolist() == ["x", "sin(x)"] and found["series"].name == "misfit"
    assert [str(term) for term in found["terms"]] == ["u", "u_x", "(u^2)_xx", "u*u_x"]
    first, second, third, *rest = found["numbers"]
    assert (first, second, rest) == (1, 2.5, [True, None, "text"]) and np.array_equal(third, [0, 1, 2])


def test_every_kind_of_result_has_a_file():
    later = { # kinds that 0.1.0 did not have
        "Reason", "Settings", "Settled", "Unkept", "Growth", "GrowthStep", "Trace", "Limits", "Standing",
    }
    import_all_rooms()
    ours = {name for name, kind in KINDS.items() if kind.package == "ubic"}
    assert ours - later - {"WeakFit", "_Problem"} <= set(TOLD), "these two are parts of other kinds"


def import_all_rooms():
    "Kinds are registered when their rooms are loaded."
    from importlib import import_module
    from pkgutil import walk_packages
    for room in walk_packages(ubic.__path__, "ubic."):
        try: import_module(room.name)
        except ImportError: continue
