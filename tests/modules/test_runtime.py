"Documentation from comments."
import inspect
import linecache
import types

import ubic
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
