"""What the tools that write files share: places, texts of cells, and files that are kept in step with a source."""
import argparse
import json
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "nbs"
EXPORTED = re.compile(r"^#\|\s*exporti?\b", re.MULTILINE)


def text(value): return value if isinstance(value, str) else "".join(value)


def read_cells(path): return json.loads(path.read_text(encoding="utf-8"))["cells"]


def find_notebooks():
    "All notebooks in the order of their names, without hidden and working folders."
    def hidden(path): return any(part[0] in "._" for part in path.relative_to(NOTEBOOKS).parts)
    return sorted(path for path in NOTEBOOKS.rglob("*.ipynb") if not hidden(path))


def with_prose(path, change):
    "A notebook with its Markdown cells changed by a function from text to text."
    nb = json.loads(path.read_text(encoding="utf-8"))
    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown": cell["source"] = change(text(cell["source"])).splitlines(keepends=True)
    return json.dumps(nb, sort_keys=True, indent=1, ensure_ascii=False) + "\n"


def keep_in_step(fresh, description):
    "Write each file whose text has changed; with `--check` change nothing and fail when there is one."
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a file is out of date")
    check = parser.parse_args().check
    old = [path for path, new in fresh.items() if not path.exists() or path.read_text(encoding="utf-8") != new]
    if check and old:
        names = ", ".join(str(path.relative_to(ROOT)) for path in old)
        sys.exit(f"{names} is out of date; `make export` writes it again.")
    for path in old:
        new = path.with_name(path.name + ".new")
        new.write_text(fresh[path], encoding="utf-8")
        os.replace(new, path)
