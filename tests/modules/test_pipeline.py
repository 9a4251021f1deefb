"""One voice for all warnings of a discovery, and reasons that programs can compare."""
import copy
import pickle
import warnings
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import ubic
from ubic.choice.rules import RULES
from ubic.choice.selection import Reason, ReasonKind
from ubic.ground.checks import AmbiguousWarning, Argument, DataWarning, StorageWarning, UbicWarning, warn
from ubic.road.pipeline import OneVoice, give_once, hear

PARTS = "raise ", Argument("tau0", 0.1), " for that"


class OddWarning(UbicWarning):
    "A warning of a class of its own."


def odd(times=1):
    for _ in range(times): warnings.warn(OddWarning(*PARTS), stacklevel=2)


def recorded(function):
    with warnings.catch_warnings(record=True, action="always") as caught: function()
    return caught


def test_warnings_keep_their_class_and_parts():
    def several():
        with OneVoice():
            odd(3)
            give_once(hear(odd, 2)[1])

    one, = recorded(several)
    assert one.category is OddWarning and one.message.args == PARTS and one.filename == __file__
    assert one.message.sentence(lambda argument: f"--{argument.name} {argument.value}") == "raise --tau0 0.1 for that"


def test_warnings_are_one_by_kind_and_object():
    def several():
        with OneVoice():
            for kind, text in ((DataWarning, "u is odd"), (DataWarning, "u is very odd"), (StorageWarning, "u is odd")):
                warn(text, kind=kind, about="u")
            warn("v is odd", kind=DataWarning)

    told = [(one.category, str(one.message), one.message.about) for one in recorded(several)]
    assert told == [(DataWarning, "u is odd", "u"), (StorageWarning, "u is odd", "u"), (DataWarning, "v is odd", None)]


def test_rivals_are_told_by_a_kind_of_warning():
    x, t = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    wave = ubic.as_field(np.exp(-t)*np.sin(x)[:, None], x=x, t=t)
    caught = hear(ubic.discover, wave)[1]
    ambiguous, = [one.message for one in caught if issubclass(one.category, AmbiguousWarning)]
    assert ambiguous.about == "u_t" and all(issubclass(one.category, UbicWarning) for one in caught)


def test_a_true_pde_that_cannot_be_read_is_told_in_parts():
    field = ubic.datasets.burgers().isel(x=slice(None, None, 2), t=slice(None, None, 2)).assign_attrs(pde="nonsense")
    caught = hear(ubic.discover, field)[1]
    ignored, = [one.message for one in caught if str(one.message).endswith("; it is ignored.")]
    assert ignored.args[0] == Argument("field.attrs['pde']") and issubclass(type(ignored), DataWarning)


def test_warnings_of_other_packages_pass_through():
    def other():
        with OneVoice(): np.log(np.zeros(1))

    assert [one.category for one in recorded(other)] == [RuntimeWarning]


def test_after_an_error_there_is_nothing_else_to_say():
    def failing():
        with pytest.raises(KeyError), OneVoice():
            odd()
            raise KeyError

    assert recorded(failing) == []


def test_reasons_have_kinds_that_survive_copies():
    reason = Reason(ReasonKind.FEW_ROWS, rows=8.04, size=2)
    assert reason == "8.0 independent rows for 2 coefficients" and str(reason) == reason
    for other in (copy.copy(reason), copy.deepcopy(reason), pickle.loads(pickle.dumps(reason))):
        assert other == reason and other.kind is ReasonKind.FEW_ROWS and other.details == {"rows": 8.04, "size": 2}


def test_a_verdict_gives_reasons_of_their_kinds():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    X[:, 3] = X[:, 0] + 1e-3*rng.standard_normal(60)
    y = X[:, 0] + 0.2*X[:, 1] + 0.5*rng.standard_normal(60)
    verdict = ubic.select(ubic.best_subsets(ubic.LinearSystem(X, y))).verdict
    kinds = [reason.kind for reason in verdict.reasons]
    assert kinds[0] is ReasonKind.RIVAL and ReasonKind.RUNNER_UP in kinds
    details = {reason.kind: reason.details for reason in verdict.reasons}
    assert all(isinstance(term, ubic.Term) or str(term) for term in details[ReasonKind.RIVAL]["terms"])
    assert set(details[ReasonKind.RUNNER_UP]) == {"size", "margin"}


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
def test_what_is_left_keeps_its_kind_in_a_file(tmp_path):
    found = ubic.discover(ubic.datasets.burgers(), max_size=1)
    again = ubic.load_result(found.save(tmp_path/"found.npz"))
    for one in (found, again):
        assert ReasonKind.UNEXPLAINED in [reason.kind for reason in one["u"].verdict.reasons]
        assert isinstance(one["u"].unexplained, Reason) and one["u"].unexplained.details["amount"] > 0
    assert again["u"].unexplained.details == found["u"].unexplained.details
    kept = ubic.load_result(ubic.save_result([*found["u"].verdict.reasons], tmp_path/"reasons.npz"))
    assert [(one, one.kind, one.details) for one in kept] == [
        (one, one.kind, one.details) for one in found["u"].verdict.reasons
    ]
    assert again["u"].verdict.reasons == found["u"].verdict.reasons


def test_rules_are_frozen_and_documented():
    with pytest.raises(FrozenInstanceError): RULES.tau0 = 1.0
    table = RULES.table()
    assert (table["reason"].str.len() > 20).all() and (table["measured"] != "").all() and len(table) > 40
    assert set(RULES.table("contest")["part"]) == {"contest"}
