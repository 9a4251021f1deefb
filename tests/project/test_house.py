"""The rules of the house: what imports what, and that every public name and path of before still leads somewhere."""
import ast
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import house

NAMES = json.loads(Path(__file__).with_name("names_of_0_1_0.json").read_text(encoding="utf-8"))
HEAVY = "numpy numba scipy matplotlib sympy pandas xarray torch pymc sklearn joblib tqdm".split()


@pytest.mark.parametrize("rule", house.RULES, ids=lambda rule: rule.__name__)
def test_rule_is_kept(rule): assert list(rule()) == [], rule.__doc__


@pytest.mark.parametrize("code, held", [
    ("from ubic.weakform.system import _weights", ["_weights"]), ("system._rows", ["_rows"]),
    ("monkeypatch.setattr(found, '_rows', None)", ["_rows"]), ("self._rows; found._repr_html_(); os._exit(0)", []),
])
def test_private_names_in_tests_are_seen(code, held):
    assert [name for _, name in house.held_by(ast.parse(code))] == held


@pytest.mark.parametrize("path", NAMES)
def test_every_name_of_before_is_found_where_it_was(path):
    room = import_module(path)
    assert [name for name in NAMES[path] if not hasattr(room, name)] == []


def test_short_path_and_long_path_lead_to_the_same_room():
    for short, rooms in house.short_paths().items():
        if f"ubic.{short}" in NAMES: assert import_module(f"ubic.{short}").__name__ in rooms


def test_importing_the_package_loads_nothing_else():
    ours = "*sorted(name for name in sys.modules if name.startswith('ubic'))"
    code = f"import sys, ubic; print(*sorted(set({HEAVY!r}) & set(sys.modules)), {ours})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ubic"]


def test_help_shows_the_arguments():
    import ubic
    for function in (ubic.discover, ubic.add_noise, ubic.select, ubic.LinearSystem.__init__, ubic.library.weak):
        assert "Parameters\n----------\n" in function.__doc__


def test_a_run_is_known_by_the_rooms_it_uses():
    used = house.behind(house.mentioned("from ubic.ground.checks import warn\n"))
    assert "ubic.ground.checks" in used and "ubic.road.pipeline" not in used
    assert "ubic.choice.selection" in house.behind(house.mentioned("import ubic\nubic.discover(field)"))
    assert house.rooms_at("library.weak") >= {"ubic.weakform.library"}
    assert "ubic.paper.recipes" in house.mentioned("from ubic.paper import recipes")
