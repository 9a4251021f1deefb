"The ground: documentation from comments, sentences in other words, warnings in the user's name, pictures in pages."
import inspect
import linecache
import sys
import types
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest

import ubic
from ubic.ground import checks, show
from ubic.ground.checks import Argument, ArgumentError, ArgumentTypeError, UbicWarning, warn
from ubic.ground.results import html_of
from ubic.ground.runtime import document_module


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
