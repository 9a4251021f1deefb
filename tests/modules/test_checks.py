"Checks of arguments, errors in other words, and warnings in the user's name."
import sys
import warnings

import numpy as np
import pytest

from fields import field, t, u2, x
from ubic.field import add_noise, as_field, as_rng, check_positive, check_whole, shows_error, shows_warning
from ubic.ground import checks
from ubic.ground.checks import Argument, ArgumentError, ArgumentTypeError, UbicWarning, warn


# --- arguments --------------------------------------------------------------------------------------------------------

def test_whole_positive_and_seed():
    assert type(check_whole("n", np.int32(3), 1)) is int and check_whole("n", 3, 1, 3) == 3
    assert check_positive("a", np.float32(2)) == 2
    for bad in (0, 4, 2.0, True, "2", None):
        with pytest.raises(ValueError, match="`n` is .*from 1 to 3 .because."): check_whole("n", bad, 1, 3, "because")
    refused = {ValueError: (0, -1, np.inf, np.nan), TypeError: ("a", True, 1j)}
    for bad, kind in ((bad, kind) for kind, values in refused.items() for bad in values):
        with pytest.raises(kind, match="`a` is"): check_positive("a", bad)
    legacy = np.random.RandomState(0)
    assert as_rng(legacy) is legacy and as_rng(np.int64(5)).random() == np.random.default_rng(5).random()
    for bad, kind in ((-1, ValueError), (0.5, ValueError), (None, TypeError), ("a", TypeError), ([1, 2], TypeError)):
        with pytest.raises(kind, match="`seed` is"): add_noise(field(), 1, seed=bad)


def test_shows_error_and_warning(capsys):
    with pytest.raises(AssertionError):
        with shows_error(): pass
    with pytest.raises(AssertionError):
        with shows_warning(): pass
    with pytest.raises(KeyError):
        with shows_error(ValueError): {}["a"]
    with shows_warning():
        for _ in range(2): as_field(u2 + 0j, x=x, t=t)
    assert capsys.readouterr().out.count("UbicWarning") == 1


# --- sentences --------------------------------------------------------------------------------------------------------

def test_errors_in_other_words_keep_their_parts():
    error = ArgumentTypeError("pde", ["mentions ", Argument("initial")], ["give ", Argument("pde", "{}"), ", please"])
    assert str(error) == "`pde` mentions `initial`; give `pde={}`, please."
    other = error.reworded({"pde": [Argument("competitors"), ", number 1,"], "initial": Argument("data")})
    assert str(other) == "`competitors`, number 1, mentions `data`; give `competitors`, number 1,, please."
    assert type(other) is ArgumentTypeError and isinstance(other, TypeError)
    assert other.sentence(lambda argument: argument.name.upper()).startswith("COMPETITORS, number 1, mentions DATA;")
    assert str(ArgumentError("k", "is 3").reworded({"k": ["each of ", Argument("ks")]})) == "each of `ks` is 3."
    assert str(ArgumentError("k", "is 3").reworded({})) == "`k` is 3."


def test_a_warning_names_the_line_of_the_user():
    room = {"__name__": "ubic.toy", "warn": warn}
    text = "def inner(): warn('odd')\ndef outer(): return list(map(lambda _: inner(), [1]))"
    exec(compile(text, "toy.py", "exec"), room)
    with warnings.catch_warnings(record=True, action="always") as caught: room["outer"]()
    line = sys._getframe().f_lineno - 1
    assert (caught[0].filename, caught[0].lineno, caught[0].category) == (__file__, line, UbicWarning)


def test_flags_and_names_are_checked():
    assert checks.check_flag("rows", np.True_) is True and checks.as_names("variables", ["u", "v", "u"]) == ("u", "v")
    with pytest.raises(TypeError): checks.check_flag("rows", 1)
