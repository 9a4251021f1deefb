"""How literate each notebook is, as a table: `make shape`.

Exported cells, lines of the median and of the longest of them, words of prose per exported line, and cells with
something displayed.
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
    def counts(line): return bool(line.strip()) and not DIRECTIVE.match(line)
    lines = [sum(map(counts, source.splitlines())) for source in exported]
    words = sum(len(source.split()) for kind, source in sources if kind == "markdown")
    shown = sum(bool(cell.get("outputs")) for cell in cells)
    return len(lines), median(lines or [0]), max(lines, default=0), words / sum(lines) if lines else None, shown


def longest_run(cells):
    "How many exported cells follow each other, at most, before something is displayed again."
    longest = run = 0
    for cell in cells:
        if cell["cell_type"] == "code" and EXPORTED.search(text(cell["source"])): run += 1
        elif cell.get("outputs"): run = 0
        longest = max(longest, run)
    return longest


def table():
    "One line per notebook that exports something."
    head = "| notebook | exported cells | median lines | longest | words per line | displayed |"
    rows = [head, "|---|--:|--:|--:|--:|--:|"]
    for path in find_notebooks():
        cells, middle, longest, words, shown = measure(read_cells(path))
        if cells: rows.append(f"| {name(path)} | {cells} | {middle:g} | {longest} | {words:.1f} | {shown} |")
    return "\n".join(rows)


if __name__ == "__main__": print(table())
