"The ground: documentation from comments, sentences in other words, warnings in the user's name, pictures in pages."
import inspect
import linecache
import sys
import types
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import ubic
import ubic.saving
from ubic.data.axes import Question
from ubic.ground import checks, show
from ubic.ground.checks import Argument, ArgumentError, ArgumentTypeError, UbicWarning, warn
from ubic.ground.results import html_of
from ubic.ground.runtime import document, document_module


def module(text, name="toy"):
    "A module of this text, documented as a room of the package is."
    made = types.ModuleType(name)
    made.__file__ = f"{name}.py"
    linecache.cache[made.__file__] = len(text), None, text.splitlines(keepends=True), made.__file__
    exec(compile(text, made.__file__, "exec"), vars(made))
    document_module(made)
    return made


CLASSES = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class Point:
    "A place."
    x: float # to the right
    y: float | None = None # upwards
    unsaid: int = 0
    _hidden: int = 1

    def far(self,
        much: float = 2.0, # how far
    ) -> bool: # or not
        "Whether it is far."
        inner: int = 3 # of the method
        return self.x > much

class Plain:
    "No fields."
    x: float # not of a dataclass

@dataclass(frozen=True)
class Longer(Point):
    """Several lines.

    Attributes
    ----------
    x : said already
    """
    x: float # said again
'''


def test_fields_and_arguments_come_into_the_documentation():
    toy = module(CLASSES)
    fields = ["x : float", "    to the right", "y : float | None", "    upwards"]
    assert toy.Point.__doc__.splitlines() == ["A place.", "", "Attributes", "----------", *fields]
    arguments = ["Parameters", "----------", "much : float, default 2.0", "    how far"]
    assert toy.Point.far.__doc__.splitlines()[2:] == [*arguments, "", "Returns", "-------", "bool", "    or not"]
    assert toy.Plain.__doc__ == "No fields." and toy.Longer.__doc__.count("Attributes") == 1


def test_results_of_the_package_tell_their_fields():
    assert "Attributes\n----------\ntarget : str" in ubic.Equation.__doc__ and "coef : tuple\n" in ubic.Equation.__doc__
    assert inspect.getdoc(ubic.load).count("Parameters\n") == 1


# --- sentences --------------------------------------------------------------------------------------------------------

def test_errors_in_other_words_keep_their_parts():
    error = ArgumentTypeError("pde", ["mentions ", Argument("initial")], ["give ", Argument("pde", {}), ", please"])
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


# --- pages ------------------------------------------------------------------------------------------------------------

def line():
    axes = plt.figure().add_subplot()
    axes.plot([0, 1])
    return axes


@pytest.mark.parametrize("kind, media", [("png", "image/png"), ("svg", "image/svg+xml")])
def test_pictures_are_the_same_every_time_and_leave_no_figure(kind, media):
    before = plt.get_fignums()
    one, other = (show.figure_html(line, "a < b & \"c\"", kind) for _ in range(2))
    assert one == other and f'src="data:{media};base64,' in one and one.count("a &lt; b &amp; &quot;c&quot;") == 2
    assert plt.get_fignums() == before
    assert show.figure_html(lambda: np.array([line()]), "two") == show.figure_html(line, "two")


def test_pages_show_markup_as_text():
    assert html_of("<b>", "two") == "<p>&lt;b&gt;</p><p>two</p>"
    equation = ubic.Equation("u_t", ("a<b",), (1.0,))
    assert html_of(equation) == f"<p>${equation.latex.replace('<', '&lt;')}$</p>"


def test_flags_and_names_are_checked():
    assert checks.check_flag("rows", np.True_) is True and checks.as_names("variables", ["u", "v", "u"]) == ("u", "v")
    with pytest.raises(TypeError): checks.check_flag("rows", 1)


def test_a_picture_is_drawn_in_the_settings_of_the_session():
    "The first figure also starts the backend, which should not forget what it sets up when the picture is done."
    import matplotlib.pyplot as plt
    from ubic.ground.show import picture_source
    usual, seen = plt.rcParams["svg.hashsalt"], []
    def draw():
        seen.append(plt.rcParams["svg.hashsalt"])
        return plt.subplots()[1]
    first, second = picture_source(draw, "svg"), picture_source(draw, "svg")
    assert first == second and seen == [usual, usual]


def test_values_of_arguments_are_kept_and_written_when_said():
    cases = {
        "`dims=('x', 't')`": Argument("dims", ("x", "t")), "`variables=[...]`": Argument("variables", [...]),
        "`rename={'column': 'x', ...}`": Argument("rename", {"column": "x", ...: ...}), "`tau0`": Argument("tau0"),
        "`time_limit=60`": Argument("time_limit", 60.0), "`solver='exact'`": Argument("solver", "exact"),
        "`tau0=None`": Argument("tau0", None), "`seeds=0`": Argument("seeds", 0),
    }
    assert {str(argument) for argument in cases.values()} == set(cases)
    assert all(str(argument) == words for words, argument in cases.items())
    assert str(Argument("variables", [f"u{i}" for i in range(20)])).endswith("'u11', ...]`")
    typed = [" ".join(argument.typed()) for argument in cases.values()]
    assert typed == ["x t", "", "column=x", "", "60", "exact", "None", "0"]


def test_errors_hand_out_their_parts():
    error = ArgumentError("pde", ["mentions ", Argument("initial")], "leave it out")
    assert checks.spoken(checks.parts_of_error(error)) + "." == str(error)
    assert checks.parts_of_error(ValueError("no parts.")) == ["no parts."]
    question = Question("data", "has shape (2, 3)", "did you mean transpose(1, 0)")
    assert str(question).endswith("(1, 0)?") and str(question.renamed("u")).endswith("(1, 0)?")


def test_notes_stand_before_the_first_table():
    table = pd.DataFrame({"a": [1/3]})
    page = html_of("one", table, "two", table, notes=["read <this>"])
    order = [page.index(part) for part in ("<p>one", "<em>read &lt;this&gt;</em>", "<table", "<p>two")]
    assert order == sorted(order) and page.count("<table") == 2 and "0.3333" in page
    assert html_of("one", notes=["a"]) == "<p>one</p><p><em>a</em></p>"
    assert ubic.saving.html_of is show.html_of


def test_methods_of_one_line_say_what_the_function_says_they_hand_on_to():
    made = module(DELEGATING)
    document(made.Box.wide)
    assert "    in meters" in made.Box.wide.__doc__ and "box : Box\n    A box." in made.is_wide.__doc__


DELEGATING = '''
class Box:
    "A box."
    def wide(self, least=2):
        "Whether it is wide."
        return is_wide(self, least)

def is_wide(
    box: Box,
    least, # in meters
):
    "Whether a box is wide."
    return box.width > least
'''


@pytest.mark.parametrize("call", [
    lambda **given: ubic.field.space_dims(**given), lambda **given: ubic.field.is_chunked(**given),
    lambda **given: ubic.field.spacing(dim="x", **given),
])
def test_fields_may_be_given_under_their_name_of_before(call):
    field = ubic.datasets.burgers()
    with pytest.warns(DeprecationWarning, match="`ds` of .* is called `field` now"): old = call(ds=field)
    assert old == call(field=field)


def test_data_of_before_are_fields_now():
    field = ubic.datasets.burgers().isel(x=slice(0, 64), t=slice(0, 40))
    with pytest.warns(DeprecationWarning, match="`data` of with_noise is called `field` now"):
        old = ubic.repeats.with_noise(data=field, level=5, seed=0)
    assert old.equals(ubic.repeats.with_noise(field, 5, 0))
    with pytest.warns(DeprecationWarning, match="`data` of validate is called `field` now"), pytest.raises(TypeError):
        ubic.validate(3, data=field)
