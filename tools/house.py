"""The house: which rooms the package has, what each imports, and whether the rules of the house are kept.

A part imports public names of earlier parts, and nothing else. `python tools/house.py` counts what breaks a rule.
"""
import ast
import re
import sys
from functools import cache
from pathlib import Path

from generated import ROOT

PACKAGE = ROOT / "ubic"
SOURCE = re.compile(r"File to edit: (?:\.\./)*nbs/(\S+\.ipynb)")


@cache
def rooms():
    "Every module of the package, by its full name, with its file; the front door is `ubic`."
    files = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "_modidx.py"]
    parts = {path: ("ubic", *path.relative_to(PACKAGE).with_suffix("").parts) for path in files}
    named = {".".join(part for part in names if part != "__init__"): path for path, names in parts.items()}
    return {name: path for name, path in named.items() if path.read_text(encoding="utf-8").strip()}


@cache
def tree(room): return ast.parse(rooms()[room].read_text(encoding="utf-8"))


@cache
def notebook(room):
    "The notebook that a room is written from, seen from the folder nbs."
    return SOURCE.search(rooms()[room].read_text(encoding="utf-8"))[1]


def origin(node, room=None):
    "The module that a `from … import` names; a relative one is seen from a room."
    if not node.level: return node.module
    inside = room.split(".") if rooms()[room].name == "__init__.py" else room.split(".")[:-1]
    return ".".join([*inside[:len(inside) - node.level + 1], *([node.module] if node.module else [])])


def imported(code, room=None):
    "What a piece of code imports from the package: pairs (room, name taken from it, or None for the room itself)."
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            yield from ((name.name, None) for name in node.names if name.name.partition(".")[0] == "ubic")
        if isinstance(node, ast.ImportFrom) and (home := origin(node, room) or "").partition(".")[0] == "ubic":
            for name in node.names:
                whole = f"{home}.{name.name}"
                yield (whole, None) if whole in rooms() else (home, name.name)


@cache
def needs(room):
    "The rooms that a room imports, late ones included. The front door opens a room only when somebody asks for it."
    if room == "ubic": return set()
    return {home for home, _ in imported(tree(room), room) if home in rooms() and home != room}


@cache
def short_paths():
    "What the front door knows: for each short path, and for each name at the top, the rooms behind it."
    tables = {}
    for node in tree("ubic").body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            tables[node.targets[0].id] = ast.literal_eval(node.value)
    names = {name: [room] for name, room in tables["_names"].items()}
    return {name: {f"ubic.{room}" for room in listed} for name, listed in (names | tables["_rooms"]).items()}


def rooms_at(path):
    "The rooms behind a dotted path after `ubic.`: a room, a whole part, a short path, or a name at the top."
    steps = path.split(".")
    for count in range(len(steps), 0, -1):
        whole = ".".join(["ubic", *steps[:count]])
        if whole in rooms(): return {whole}
    part = {room for room in rooms() if room.startswith(f"ubic.{steps[0]}.")}
    return part or short_paths().get(steps[0], set())


def mentioned(code):
    "The rooms that a text of code speaks of, in imports and elsewhere."
    listed = re.findall(r"from ubic import (\([^)]*\)|[^\n#]*)", code)
    names = [name.split()[0] for names in listed for name in names.strip("() ").split(",") if name.strip()]
    paths = re.findall(r"\bubic\.(\w[\w.]*)", code)
    return {"ubic"}.union(*map(rooms_at, names + paths))


def forget():
    "Look at the files again."
    for known in (rooms, tree, notebook, needs, short_paths, private_of_package): known.cache_clear()


def behind(named):
    "Some rooms and all that they need, directly or through others."
    seen, waiting = set(), list(named)
    while waiting:
        room = waiting.pop()
        if room not in seen:
            seen.add(room)
            waiting += needs(room)
    return seen


def private(name): return name.startswith("_") and not name.startswith("__")


def private_names():
    "Private names that one room takes from another."
    for room in rooms():
        for home, name in imported(tree(room), room):
            if name and private(name): yield f"{room} takes {home}.{name}"


def private_attributes():
    "Private attributes that one room reads off another."
    for room in rooms():
        aliases = {}
        for node in ast.walk(tree(room)):
            home = origin(node, room) if isinstance(node, ast.ImportFrom) else None
            if not home or not home.startswith("ubic"): continue
            for name in node.names:
                whole = f"{home}.{name.name}"
                if whole in rooms(): aliases[name.asname or name.name] = whole
        for node in ast.walk(tree(room)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and private(node.attr):
                if node.value.id in aliases: yield f"{room} reads {aliases[node.value.id]}.{node.attr}"


def against_the_order():
    "Imports of a room that is read later. With none of these there is no cycle either."
    for room in rooms():
        if room == "ubic": continue # the front door opens all rooms
        for other in sorted(needs(room) - {"ubic"}):
            if notebook(other) > notebook(room): yield f"{room} imports {other}"


def attached():
    "Methods that are attached to a class by assignment, so that `help` does not show their names."
    for room in rooms():
        for node in tree(room).body:
            for target in getattr(node, "targets", []):
                for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(each, ast.Attribute): yield f"{room}:{node.lineno} {ast.unparse(each)}"


def beside():
    "The Python files beside the package, by their paths."
    files = [path for folder in ("tests", "tools", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]
    return {path.relative_to(ROOT).as_posix(): path for path in files}


def wide():
    "Lines of more than 120 columns, in tests, tools, benchmarks and setup.py too."
    for place, path in (rooms() | beside() | {"setup.py": ROOT / "setup.py"}).items():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > 120 and not line.startswith("__all__"): yield f"{place}:{number} ({len(line)})"


UNTESTED = { # rooms that have no tests of their own, and why
    "ubic": "tests/project/test_house.py looks at the front door",
    "ubic.bayes": "four names of its rooms",
}


def tests_of_rooms():
    "Rooms without tests of their own name, and tests that have the name of no room."
    named = {room.rpartition(".")[2]: room for room in rooms() if room not in UNTESTED}
    tested = {path.stem.removeprefix("test_") for path in (ROOT / "tests" / "modules").glob("test_*.py")}
    yield from (f"{named[name]} has no tests/modules/test_{name}.py" for name in sorted(set(named) - tested))
    yield from (f"tests/modules/test_{name}.py has no room" for name in sorted(tested - set(named)))


def is_ours(name): return private(name) and not name.endswith("_") # `_repr_html_` and the like belong to notebooks


@cache
def private_of_package():
    "All private names that the package gives to functions, classes, values and attributes."
    names = set()
    for room in rooms():
        for node in ast.walk(tree(room)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)): names.add(node.name)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store): names.add(node.id)
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store): names.add(node.attr)
    return set(filter(is_ours, names))


def held_by(code):
    "Private names of the package that a test takes, reads off something else than itself, or replaces."
    for node in ast.walk(code):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "ubic":
            yield from ((node.lineno, name.name) for name in node.names if is_ours(name.name))
        if isinstance(node, ast.Attribute) and node.attr in private_of_package():
            if getattr(node.value, "id", None) not in ("self", "cls"): yield node.lineno, node.attr
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("setattr", "getattr", "delattr", "hasattr")):
            words = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
            last = [word.rpartition(".")[2] for word in words]
            yield from ((node.lineno, word) for word in last if word in private_of_package())


def private_in_tests():
    "Private names of the package that tests hold on to."
    for place, path in beside().items():
        if not place.startswith("tests/"): continue
        for line, name in held_by(ast.parse(path.read_text(encoding="utf-8"))): yield f"{place}:{line} {name}"


CLOCKS = re.compile(r"\b(perf_counter|process_time|monotonic|time\.time)\(")


def timed():
    "Assertions about time, which a busy machine breaks."
    for place, path in beside().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Assert) and CLOCKS.search(ast.unparse(node)): yield f"{place}:{node.lineno}"


def entangled():
    "Conditional expressions inside others, and statements that are a tuple, a conditional expression, or an `or`."
    for place, path in (rooms() | beside()).items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            inside = [one for one in ast.walk(node) if isinstance(one, ast.IfExp)]
            if isinstance(node, ast.IfExp) and len(inside) > 1: yield f"{place}:{node.lineno} nested"
            if isinstance(node, ast.Expr) and isinstance(node.value, (ast.Tuple, ast.IfExp, ast.BoolOp)):
                yield f"{place}:{node.lineno} statement"


def functions():
    "All functions and methods, with their rooms and the lines of their heads."
    for room, path in rooms().items():
        lines = path.read_text(encoding="utf-8").splitlines()
        for node in ast.walk(tree(room)):
            if isinstance(node, ast.FunctionDef): yield room, node, "".join(lines[node.lineno - 1:node.body[0].lineno])


def long_signatures():
    "Public functions with more than five positional arguments."
    for room, node, _ in functions():
        names = [argument.arg for argument in node.args.posonlyargs + node.args.args]
        count = len(names) - (names[:1] in (["self"], ["cls"]))
        if not node.name.startswith("_") and count > 5: yield f"{room}:{node.lineno} {node.name} ({count})"


def unexplained():
    "Private functions without a sentence or a comment."
    for room, node, head in functions():
        told = ast.get_docstring(node) or "#" in head
        if private(node.name) and not told: yield f"{room}:{node.lineno} {node.name}"


RULES = (
    private_names, private_attributes, against_the_order, attached, wide, long_signatures, unexplained,
    tests_of_rooms, private_in_tests, timed, entangled,
)


if __name__ == "__main__":
    for rule in RULES:
        places = list(rule())
        print(f"{len(places):6}  {rule.__doc__}")
        if "--list" in sys.argv: print(*(f"        {place}" for place in places), sep="\n")
