"""Build the site in _docs from the notebooks, as they are: nothing is run but the documentation of names."""
import configparser
import json
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_docs"
SETTINGS = configparser.ConfigParser(delimiters=["="])
SETTINGS.read(ROOT / "settings.ini", encoding="utf-8")
SETTINGS = SETTINGS["DEFAULT"]
PARTS = [("Chapters", "."), ("The paper", "paper"), ("Supplement", "supplement"), ("Beyond the paper", "beyond"), ("Tutorials", "tutorials")]
EXTENSIONS = ["myst_nb", "sphinx_copybutton"]
OPTIONS = dict(
    project=SETTINGS["title"], author=SETTINGS["author"], copyright=SETTINGS["copyright"], release=SETTINGS["version"], extensions=EXTENSIONS,
    nb_execution_mode="off", myst_enable_extensions=["dollarmath", "amsmath", "colon_fence"], myst_heading_anchors=4, myst_dmath_double_inline=True,
    html_theme="sphinx_book_theme", html_title=SETTINGS["title"], html_copy_source=False, html_show_sourcelink=False, nb_merge_streams=True,
    html_theme_options={"show_toc_level": 2, "use_download_button": False, "home_page_in_toc": True},
    suppress_warnings=["myst.header"], exclude_patterns=["_quarto.yml", "nbdev.yml"],
)


def text(value): return value if isinstance(value, str) else "".join(value)


def front_matter(source):
    "Title and description from the front matter nbdev writes."
    return yaml.safe_load(source.strip().strip("-")) or {}


def heading(source):
    "Front matter as a title and a quoted sentence."
    fields = front_matter(source)
    return f"# {fields.get('title', '')}\n\n" + (f"> {fields['description']}" if fields.get("description") else "")


def markdown(source): return {"cell_type": "markdown", "metadata": {}, "source": source}


def documented(cell):
    "The result of `show_doc` as Markdown, so that its heading is one of the page."
    shown = "\n\n".join(text(output["data"]["text/markdown"]) for output in cell["outputs"] if "text/markdown" in output.get("data", {}))
    return markdown(shown.replace("---\n\n", "", 1))


def convert_cell(cell):
    "One processed cell as Sphinx wants it, or nothing."
    source = text(cell["source"])
    if cell["cell_type"] == "raw": return markdown(heading(source)) if source.startswith("---") else None
    if cell["cell_type"] == "markdown": return None if source.startswith("<!-- WARNING") else markdown(source)
    if re.search(r"^\s*show_doc\(", source, re.MULTILINE) and cell["outputs"]: return documented(cell)
    tags = ["remove-input"] if re.search(r"^#\|\s*echo:\s*false", source, re.MULTILINE) else ["hide-input"] if re.search(r"^#\|\s*code-fold:\s*true", source, re.MULTILINE) else []
    source = "\n".join(line for line in source.splitlines() if not line.startswith("#|")).strip()
    return {"cell_type": "code", "execution_count": None, "metadata": {"tags": tags}, "outputs": cell["outputs"], "source": source} if source else None


def convert(notebook):
    "A processed notebook in Sphinx's dialect, with the language that cleaning removed."
    nb = json.loads(notebook.read_text(encoding="utf-8"))
    cells = [made for cell in nb["cells"] if (made := convert_cell(cell))]
    for number, cell in enumerate(cells): cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel, "language_info": {"name": "python", "pygments_lexer": "ipython3"}}, "nbformat": 4, "nbformat_minor": 5}


def anchors(nb):
    "The names by which the headings of a converted notebook can be linked to."
    lines = [line for cell in nb["cells"] if cell["cell_type"] == "markdown" for line in cell["source"].splitlines()]
    return {re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in lines if re.match("#{1,4} ", line)}


def published(processed, notebook):
    "The address nbdev gives to the page of a notebook, without its ending."
    first, inside = text(json.loads(notebook.read_text(encoding="utf-8"))["cells"][0]["source"]), notebook.relative_to(processed)
    output = front_matter(first).get("output-file", inside.name) if first.startswith("---") else inside.name
    return inside.with_name(Path(output).stem).as_posix()


def localize(nb, pages):
    "Links to the published site become links to the page here, and to the heading if it is there."
    base = re.escape(SETTINGS["doc_host"].rstrip("/") + "/" + SETTINGS["doc_baseurl"].strip("/"))

    def local(link):
        if link[1] not in pages: return link[0]
        page, names = pages[link[1]]
        anchor = re.sub(r"\W", "", link[2] or "")
        return f"/{page}#{anchor}" if anchor in names else f"/{page}"

    for cell in nb["cells"]:
        if cell["cell_type"] == "markdown": cell["source"] = re.sub(base + r"/?([\w/]+)\.html(?:#([\w.]*))?", local, cell["source"])


def contents(notebooks):
    "The tables of contents of the front page, part by part in reading order."
    shown = []
    for caption, part in PARTS:
        names = sorted(path.with_suffix("").as_posix() for path in notebooks if path.parent == Path(part) and path.stem != "index")
        if names: shown += ["```{toctree}", ":hidden:", f":caption: {caption}", "", *names, "```", ""]
    return "\n".join(shown)


def write_sources(processed, folder):
    "Everything Sphinx reads: converted notebooks, and the other files beside them."
    shutil.copytree(processed, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
    notebooks = sorted(processed.rglob("*.ipynb"))
    made = {notebook.relative_to(processed): convert(notebook) for notebook in notebooks}
    pages = {published(processed, notebook): (notebook.relative_to(processed).as_posix(), anchors(nb)) for notebook, nb in zip(notebooks, made.values())}
    made[Path("index.ipynb")]["cells"].append(markdown(contents(made)) | {"id": "contents"})
    for name, nb in made.items():
        localize(nb, pages)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(nb), encoding="utf-8")
    return len(made)


def main():
    from nbdev.serve import proc_nbs
    from sphinx.application import Sphinx
    os.chdir(ROOT)
    start = time.perf_counter()
    processed = Path(proc_nbs(force=True))
    with tempfile.TemporaryDirectory() as work:
        source, built = Path(work) / "source", Path(work) / "html"
        pages = write_sources(processed, source)
        app = Sphinx(str(source), None, str(built), str(Path(work) / "doctrees"), "html", confoverrides=OPTIONS, warningiserror=True, status=None, warning=sys.stderr, parallel=2)
        app.build()
        if app.statuscode: sys.exit("The site was not built; see the warnings above.")
        shutil.rmtree(SITE, ignore_errors=True)
        shutil.move(built, SITE)
    print(f"{pages} pages in {time.perf_counter() - start:.0f} s; open {SITE.relative_to(ROOT) / 'index.html'}")


if __name__ == "__main__": main()
