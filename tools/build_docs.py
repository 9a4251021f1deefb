"""Build the site from the notebooks, as they are: nothing is run but the documentation of names.

The finished site asks nothing of the network: scripts, styles and fonts are its own, MathJax among them.
"""
import argparse
import configparser
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml
from bs4 import BeautifulSoup

from contents import pages
from generated import EXPORTED, NOTEBOOKS, ROOT, read_cells, text

MATHJAX = ROOT / "node_modules" / "mathjax" / "es5"
SETTINGS = configparser.ConfigParser(delimiters=["="])
SETTINGS.read(ROOT / "settings.ini", encoding="utf-8")
SETTINGS = SETTINGS["DEFAULT"]
NUMBER = re.compile(r"[-+]?[\d., ]+(e[-+]?\d+)?( ?(%|m?s))?|∞|-?inf|nan", re.IGNORECASE) # in a cell of a table
MADE_HERE = {"Get started": ["contributing"], "API": ["names"]} # pages that are not notebooks
OPTIONS = {
    "project": SETTINGS["title"],
    "author": SETTINGS["author"],
    "copyright": SETTINGS["copyright"],
    "release": SETTINGS["version"],
    "extensions": ["myst_nb", "sphinx_copybutton"],
    "nb_execution_mode": "off",
    "nb_merge_streams": True,
    "nb_code_prompt_show": "Show the code",
    "nb_code_prompt_hide": "Hide the code",
    "nb_render_markdown_format": "myst",
    "myst_enable_extensions": ["dollarmath", "amsmath", "colon_fence"],
    "myst_heading_anchors": 4,
    "myst_dmath_double_inline": True,
    "html_theme": "sphinx_book_theme",
    "html_title": SETTINGS["title"],
    "html_copy_source": False,
    "html_show_sourcelink": False,
    "html_static_path": ["_static"],
    "html_css_files": ["site.css"],
    "html_theme_options": {
        "show_toc_level": 2,
        "use_download_button": False,
        "navbar_start": [],
        "navbar_center": [],
        "navbar_end": [],
        "navbar_persistent": [],
    },
    "html_context": {"default_mode": "auto"},
    "html_favicon": "_static/favicon.svg",
    "copybutton_prompt_text": r"\$ |>>> ",
    "copybutton_prompt_is_regexp": True,
    "mathjax_path": "mathjax/tex-chtml-full.js",
    "mathjax3_config": {"options": {"enableMenu": False}},
    "suppress_warnings": ["myst.header"],
    "exclude_patterns": ["*.yml"],
}
PYTHON = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


def front_matter(source):
    "Title and description from the front matter nbdev writes."
    return yaml.safe_load(source.strip().strip("-")) or {}


def heading(source):
    "Front matter as a title and a quoted sentence."
    fields = front_matter(source)
    return f"# {fields.get('title', '')}\n\n" + (f"> {fields['description']}" if fields.get("description") else "")


def markdown(source): return {"cell_type": "markdown", "metadata": {}, "source": source}


def without_links(block):
    "A block of code without the links in it, which would be shown as they are written."
    return re.sub(r"\[(`[^`]+`)\]\([^)]+\)", r"\1", block[0])


def documented(cell):
    "The result of `show_doc` as Markdown, so that its heading is one of the page."
    found = [output["data"] for output in cell["outputs"] if "text/markdown" in output.get("data", {})]
    shown = "\n\n".join(text(data["text/markdown"]) for data in found)
    shown = re.sub(r"(?ms)^```.*?^```$", without_links, shown)
    shown = re.sub(r"\[source\]\(([^)]+)\)\{[^}]*\}", r'<a class="source" href="\1">source</a>', shown)
    return markdown(shown.replace("---\n\n", "", 1))


def directive(source, name):
    "What a cell says about itself in a line `#| name: value` of YAML, as text, or nothing."
    found = re.search(rf"^#\|\s*({name}:\s.+)", source, re.MULTILINE)
    return found and yaml.load(found[1], yaml.BaseLoader)[name]


def figures(source):
    "A picture that stands alone in its paragraph becomes a figure with its text below."
    return re.sub(r"(?m)^!\[([^]]+)\]\((\S+)\)$", r"```{figure} \2\n:alt: \1\n\n\1\n```", source)


def breakable(formula):
    "A formula as one per summand, since MathJax breaks no lines inside one; whole if a sign stands inside brackets."
    first, *others = re.split(r"(?<!=) (?=[+-] )", formula)
    summands = [first, *others]
    closed = all(part.count(left) == part.count(right) for part in summands for left, right in ("()", "{}"))
    if not closed: return rf"\({formula}\)"
    spaced = [first, *(rf"{other[0]}\:{other[2:]}" for other in others)]
    return " ".join(rf"\({part}\)" for part in spaced)


def of_numbers(cells):
    "Whether more than half of the filled cells of a column are numbers."
    filled = [cell.text.strip() for cell in cells if cell.text.strip()]
    return 2*sum(bool(NUMBER.fullmatch(said)) for said in filled) > len(filled)


def headers(row):
    "The cells of a row of headers from the right, each as often as it has columns."
    return [cell for cell in row("th") for _ in range(int(cell.get("colspan", 1)))][::-1]


def aligned(table):
    """The HTML of a table with its columns of numbers marked, headers too.

    Columns are counted from the right, as row names may span rows.
    """
    table = BeautifulSoup(table, "html.parser")
    for place, cells in enumerate(zip(*(row("td")[::-1] for row in table.tbody("tr")))):
        if not of_numbers(cells): continue
        above = [row[place] for row in map(headers, table.thead("tr")) if place < len(row)]
        single = [cell for cell in above if not cell.has_attr("colspan")]
        for cell in [*cells, *single]: cell["class"] = "number"
    return str(table)


def typeset(output):
    """An output for the site, which typesets its formulas and aligns its tables.

    Its HTML has formulas between dollars, which Jupyter typesets.
    """
    html = text(output.get("data", {}).get("text/html", ""))
    if not html: return output

    def formula(found): return f'<p class="math notranslate nohighlight">{breakable(found[1])}</p>'

    def table(found): return aligned(found[0])

    formulas = re.sub(r"<p>\$([^$]+)\$</p>", formula, html)
    shown = re.sub(r'<table[^>]*class="dataframe".*?</table>', table, formulas, flags=re.DOTALL)
    return output | {"data": output["data"] | {"text/html": shown}}


def tags(source):
    "Whether the code of a cell is left out, folded, or shown."
    if directive(source, "echo") == "false": return ["remove-input"]
    return ["hide-input"] if directive(source, "code-fold") == "true" else []


def convert_cell(cell):
    "One processed cell as Sphinx wants it, or nothing."
    source = text(cell["source"])
    if cell["cell_type"] == "raw": return markdown(heading(source)) if source.startswith("---") else None
    if cell["cell_type"] == "markdown": return None if source.startswith("<!-- WARNING") else markdown(figures(source))
    if re.search(r"^\s*show_doc\(", source, re.MULTILINE) and cell["outputs"]: return documented(cell)
    caption = directive(source, "fig-cap")
    figure = {"mystnb": {"figure": {"caption": caption}, "image": {"alt": caption}}} if caption else {}
    code = "\n".join(line for line in source.splitlines() if not line.startswith("#|")).strip()
    if not code: return None
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {"tags": tags(source)} | figure,
        "outputs": list(map(typeset, cell["outputs"])),
        "source": code,
    }


def exported(cell):
    "The code of a cell that becomes part of the package, unless it only imports."
    source = text(cell["source"])
    lines = [line for line in source.splitlines() if not line.startswith("#|")]
    only_imports = all(re.match(r"(import|from) |\s*$", line) for line in lines)
    return "\n".join(lines).strip() if EXPORTED.search(source) and not only_imports else ""


def with_code(processed, original):
    "Processed cells with the exported code, which nbdev leaves out, folded after the documentation of its names."
    order = {cell["id"]: number for number, cell in enumerate(original)}
    waiting = list(enumerate(map(exported, original)))
    for cell in [*processed, {"id": None}]:
        upto = order.get(cell["id"], len(original) if cell["id"] is None else 0)
        code = "\n\n".join(source for number, source in waiting if source and number < upto)
        waiting = [(number, source) for number, source in waiting if number >= upto]
        if code: yield {"cell_type": "code", "metadata": {}, "outputs": [], "source": f"#| code-fold: true\n{code}"}
        if cell["id"]: yield cell


def convert(notebook, original):
    "A processed notebook in Sphinx's dialect, with the language that cleaning removed."
    processed = with_code(read_cells(notebook), read_cells(original))
    cells = [made for cell in processed if (made := convert_cell(cell))]
    for number, cell in enumerate(cells): cell["id"] = f"cell-{number}"
    return {"cells": cells, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5}


def anchors(nb):
    "The names by which the headings of a converted notebook can be linked to."
    texts = [cell["source"] for cell in nb["cells"] if cell["cell_type"] == "markdown"]
    lines = [line for source in texts for line in source.splitlines() if re.match("#{1,4} ", line)]
    return {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in lines}


def published(processed, notebook):
    "The address nbdev gives to the page of a notebook, without its ending."
    first, inside = text(read_cells(notebook)[0]["source"]), notebook.relative_to(processed)
    output = front_matter(first).get("output-file", inside.name) if first.startswith("---") else inside.name
    return inside.with_name(Path(output).stem).as_posix()


def localize(nb, pages):
    "Links to the published site become links to the page here, and to the heading if it is there."
    base = re.escape(SETTINGS["doc_host"].rstrip("/") + "/" + SETTINGS["doc_baseurl"].strip("/"))
    address = base + r"/?([\w/]+)\.html(?:#([\w.]*))?"

    def local(link):
        if link[1] not in pages: return link[0]
        page, names = pages[link[1]]
        anchor = re.sub(r"\W", "", link[2] or "")
        return f"/{page}#{anchor}" if anchor in names else f"/{page}"

    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown": cell["source"] = re.sub(address, local, cell["source"])


def toctree(names, caption=None):
    "A table of contents that only the sidebar shows."
    shown = [f":caption: {caption}"] if caption else []
    return markdown("\n".join(["```{toctree}", ":hidden:", *shown, "", *names, "```"]))


def add_contents(made):
    "The sections of the sidebar, as tables of contents of the front page and of pages with side pages."
    for section, listed in pages().items():
        names = ["Front page <self>" if page == "index" else page for page in [*listed, *MADE_HERE.get(section, [])]]
        made["index.ipynb"]["cells"].append(toctree(names, section) | {"id": section.replace(" ", "-")})


def first_line(value): return (inspect.getdoc(value) or "").partition("\n")[0]


def public_names(where):
    "The page of all public names, module by module: those of the top of the package first, then those of the module."
    import ubic
    from ubic._modidx import d as index

    def linked(module, name, shown):
        page, _, anchor = index["syms"][module.__name__][f"{module.__name__}.{name}"][0].partition("#")
        address, anchors = where[page.removesuffix(".html")]
        return f"[{shown}](/{address}" + (f"#{anchor})" if anchor in anchors else ")")

    lines = [
        "# Public names",
        "> What `import ubic` offers, one line each; every name leads to the page that defines it.",
    ]
    homes = {f"ubic.{name}": importlib.import_module(f"ubic.{name}").__name__ for name in ubic._modules}
    rooms = dict.fromkeys([f"ubic.{room}" for room in ubic._names.values()] + list(homes.values()))
    for room in rooms:
        module = importlib.import_module(room)
        short = next((name for name, home in homes.items() if home == room), room)
        top = {name: f"ubic.{name}" for name, home in ubic._names.items() if f"ubic.{home}" == room}
        own = {
            name: f"{short}.{name}" for name in module.__all__
            if name not in top and f"{room}.{name}" in index["syms"].get(room, {})
        }
        told = {name: first_line(getattr(module, name)) for name in top | own}
        rows = [f"| {linked(module, name, f'`{shown}`')} | {told[name]} |" for name, shown in (top | own).items()]
        lines.append(f"## {short}\n\n{first_line(module)}\n\n| name | what it is |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(lines) + "\n"


def contributing(): return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").replace("](nbs/", "](")


def write_sources(processed, folder):
    "Everything Sphinx reads: converted notebooks, the other files beside them, and the pages made here."
    shutil.copytree(processed, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
    notebooks = sorted(processed.rglob("*.ipynb"))
    inside = [notebook.relative_to(processed) for notebook in notebooks]
    made = {path.as_posix(): convert(processed / path, NOTEBOOKS / path) for path in inside}
    addresses = [published(processed, notebook) for notebook in notebooks]
    where = {address: (name, anchors(nb)) for address, (name, nb) in zip(addresses, made.items())}
    add_contents(made)
    for name, nb in made.items():
        localize(nb, where)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(nb), encoding="utf-8")
    (folder / "names.md").write_text(public_names(where), encoding="utf-8")
    (folder / "contributing.md").write_text(contributing(), encoding="utf-8")
    return len(made) + sum(map(len, MADE_HERE.values()))


def find_mathjax():
    "Whether MathJax is there, after npm was asked for it."
    if not MATHJAX.is_dir() and shutil.which("npm"):
        quiet = ["--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--silent"]
        subprocess.run(["npm", "install", "--prefix", ROOT, *quiet, "mathjax@3"], stdin=subprocess.DEVNULL)
    return MATHJAX.is_dir()


def add_static(folder):
    "The style of the site, and MathJax with its fonts if it is there; options for Sphinx."
    folder.mkdir()
    for name in ("site.css", "favicon.svg"): shutil.copy(ROOT / "tools" / name, folder)
    if not find_mathjax():
        missing = "MathJax is not here, so formulas are shown as LaTeX"
        print(f"{missing}: install npm (it comes with Node.js) and run `make docs` again.", file=sys.stderr)
        (folder / "no_formulas.js").touch()
        return {"mathjax_path": "no_formulas.js"}
    shutil.copytree(MATHJAX / "output" / "chtml" / "fonts", folder / "mathjax" / "output" / "chtml" / "fonts")
    shutil.copy(MATHJAX / "tex-chtml-full.js", folder / "mathjax")
    return {}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "_docs", help="folder of the finished site")
    site = parser.parse_args().out.resolve()
    from nbdev.serve import proc_nbs
    from sphinx.application import Sphinx
    os.chdir(ROOT)
    start = time.perf_counter()
    processed = Path(proc_nbs(force=True))
    with tempfile.TemporaryDirectory() as work:
        source, built = Path(work) / "source", Path(work) / "html"
        count = write_sources(processed, source)
        options = OPTIONS | add_static(source / "_static")
        app = Sphinx(
            str(source),
            None,
            str(built),
            str(Path(work) / "doctrees"),
            "html",
            confoverrides=options,
            warningiserror=True,
            status=None,
            warning=sys.stderr,
            parallel=2,
        )
        app.set_html_assets_policy("always") # outputs hold formulas that Sphinx does not see
        app.build()
        if app.statuscode: sys.exit("The site was not built; see the warnings above.")
        shutil.rmtree(site, ignore_errors=True)
        shutil.move(built, site)
    print(f"{count} pages in {time.perf_counter() - start:.0f} s; open {os.path.relpath(site / 'index.html')}")


if __name__ == "__main__": main()
