"""Write README.md from nbs/index.ipynb, or check that it is up to date."""
import os
import re

from generated import NOTEBOOKS, ROOT, keep_in_step, read_cells, text

INDEX, README = NOTEBOOKS / "index.ipynb", ROOT / "README.md"
TWO_FENCES = re.compile(r"(```python\n(?:(?!```).)*?\n)```\n\n```python\n", re.DOTALL)
RELATIVE_LINK = re.compile(r"(\]\()(?![a-z]+:|#|/)([^)\s]+)")


def from_top(link):
    "A link relative to the folder nbs, made relative to the top of the project."
    path, mark, anchor = link[2].partition("#")
    return link[1] + os.path.relpath(ROOT / "nbs" / path, ROOT).replace(os.sep, "/") + mark + anchor


def show_output(output):
    "The Markdown of one cell output; pictures are left to the site."
    if output["output_type"] == "stream": return f"```text\n{text(output['text']).rstrip()}\n```"
    data = output.get("data", {})
    if "text/markdown" in data: return text(data["text/markdown"]).strip()
    picture = any(kind.startswith("image/") for kind in data)
    if "text/plain" not in data or picture: return ""
    return f"```text\n{text(data['text/plain']).rstrip()}\n```"


def show_cell(cell):
    "The Markdown of one cell, without its directives."
    source = text(cell["source"])
    if cell["cell_type"] == "markdown": return RELATIVE_LINK.sub(from_top, source)
    if cell["cell_type"] != "code" or re.search(r"^#\|\s*(hide|default_exp)\b", source, re.MULTILINE): return ""
    code = "\n".join(line for line in source.splitlines() if not line.startswith("#|")).strip()
    outputs = [show_output(output) for output in cell["outputs"]]
    return "\n\n".join([f"```python\n{code}\n```", *filter(None, outputs)])


def readme():
    "The whole text of README.md."
    body = "\n\n".join(shown for cell in read_cells(INDEX) if (shown := show_cell(cell)))
    remark = "<!-- made from nbs/index.ipynb by tools/readme.py; edit the notebook -->\n"
    return remark + TWO_FENCES.sub(r"\1", body) + "\n"


if __name__ == "__main__": keep_in_step({README: readme()}, __doc__)
