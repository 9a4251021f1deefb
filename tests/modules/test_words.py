"The words of the terminal: options for arguments, other advice, and names of the data left alone."
import pytest

import ubic
from ubic.ground.checks import Advice, Argument, ArgumentError, Sentence, UbicWarning
from ubic.telling.words import OPTIONS, in_terminal, sentence_in_terminal


def typed(*parts): return sentence_in_terminal(UbicWarning(*parts))


def test_advice_is_given_as_it_is_typed():
    rivals = Sentence("are the rivals u", Advice("competitors", "; give them as `competitors`, with coefficients"), ".")
    assert rivals == "are the rivals u; give them as `competitors`, with coefficients."
    assert sentence_in_terminal(rivals) == "are the rivals u."
    assert typed("name them, for instance ", Argument("dims", ("x", "t"))) == "name them, for instance --dims x t"
    assert typed("give ", Argument("rename", {"column": "x", ...: ...})) == "give --rename column=x"
    assert typed("or with ", Argument("variables", [...])) == "or with --variables NAME"
    assert typed("give ", Argument("chunks", "auto")) == "give --chunks"
    assert typed("give ", Argument("constant", False)) == "give --no-constant"
    assert typed("give ", Argument("fluxes", True)) == "give --fluxes"


def test_words_of_python_are_translated():
    need = Argument("solver", "exact"), " would need 65 GB; lower ", Argument("max_size")
    other = Advice("solver", ", or use solver='two_step' or 'greedy'")
    assert typed(*need, other) == "the exact search would need 65 GB; lower `--max-size`"
    assert typed(Argument("field.attrs['pde']"), " is 3") == "the attribute `pde` of `SOURCE` is 3"
    stopped = "the search stopped after ", Argument("time_limit", 60.0), " seconds: for size 3"
    assert str(UbicWarning(*stopped)) == "the search stopped after `time_limit=60` seconds: for size 3"
    assert typed(*stopped) == "the search stopped after --time-limit 60 seconds: for size 3"
    field = ubic.datasets.burgers()
    with pytest.raises(ArgumentError, match=r"spread it over the others with dt\.broadcast_like\(\.\.\.\)") as caught:
        ubic.check_field(field.assign(dt=0.1))
    said = sentence_in_terminal(caught.value)
    assert said.startswith("`dt` has axes (); every unknown") and said.endswith(
        "must have all of ('x', 't'): leave it out, by `--variables` with the names of the others.")


def test_names_in_the_data_stay_as_they_are():
    assert typed("`power` has a few outliers; see ", Argument("mode")) == "`power` has a few outliers; see `--mode`"
    assert in_terminal(Argument("x")) == "`x`" and "x" not in OPTIONS


def test_what_keeps_no_parts_is_told_as_it_is():
    assert sentence_in_terminal(OSError("the disk is full")) == sentence_in_terminal("the disk is full")
