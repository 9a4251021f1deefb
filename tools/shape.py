"""How literate each notebook is, as a table: `make shape`.

Exported cells, lines of the median and of the longest of them, words of prose per exported line, and cells with something displayed.
"""
import re
from statistics import median

from contents import name
from generated import EXPORTED, find_notebooks, read_cells, text

DIRECTIVE = re.compile(r"\s*#\|")


def measure(cells):
    "Exported cells, their median and longest, words per exported line (none without exports), displayed results."
    sources = [(cell["cell_type"], text(cell["source"])) for cell in cells]
    exported = [source for kind, source in sources if kind == "code" and EXPORTED.search(source)]
    lines = [sum(bool(line.strip()) and not DIRECTIVE.match(line) for line in source.splitlines()) for source in exported]
    words = sum(len(source.split()) for kind, source in sources if kind == "markdown")
    return len(lines), median(lines or [0]), max(lines, default=0), words / sum(lines) if lines else None, sum(bool(cell.get("outputs")) for cell in cells)


def table():
    "One line per notebook that exports something."
    rows = ["| notebook | exported cells | median lines | longest | words per line | displayed |", "|---|--:|--:|--:|--:|--:|"]
    measured = {name(path): measure(read_cells(path)) for path in find_notebooks()}
    return "\n".join(rows + [f"| {page} | {cells} | {middle:g} | {longest} | {words:.1f} | {shown} |" for page, (cells, middle, longest, words, shown) in measured.items() if cells])


if __name__ == "__main__": print(table())
