"The table of rules."
from dataclasses import FrozenInstanceError

import pytest

from ubic.choice.rules import RULES


def test_rules_are_frozen_and_documented():
    with pytest.raises(FrozenInstanceError): RULES.tau0 = 1.0
    table = RULES.table()
    assert (table["reason"].str.len() > 20).all() and (table["measured"] != "").all() and len(table) > 40
    assert set(RULES.table("contest")["part"]) == {"contest"}
