"""Draw the badges of the front page from what they tell of: settings.ini, the table of published numbers and the last measured coverage. They need no network to be true."""
import configparser
import json

from generated import NOTEBOOKS, ROOT, keep_in_step
from results import compared, counts

LETTER, HEIGHT = 6.6, 20 # pixels
FRAME = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" aria-label="{label}: {value}">
<clipPath id="round"><rect width="{width}" height="{height}" rx="3"/></clipPath>
<g clip-path="url(#round)"><rect width="{left}" height="{height}" fill="#555"/><rect x="{left}" width="{right}" height="{height}" fill="{color}"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="{first}" y="14">{label}</text><text x="{second}" y="14">{value}</text></g>
</svg>
"""


def badge(label, value, color):
    "A label and a value side by side."
    left, right = (round(LETTER*len(text) + 12) for text in (label, value))
    return FRAME.format(label=label, value=value, color=color, left=left, right=right, width=left + right, height=HEIGHT, first=left/2, second=left + right/2)


def badges():
    "The text of each badge, by its file."
    settings = configparser.ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    settings, (numbers, within, explained, *_) = settings["DEFAULT"], counts(compared())
    covered = json.loads((ROOT / "tests" / "coverage.json").read_text(encoding="utf-8"))["total"]["percent"]
    told = {"python": ("python", f"≥ {settings['min_python']}", "#3776ab"), "license": ("license", settings["license"].upper(), "#4c1"),
            "results": ("numbers of the paper", f"{within} of {numbers} within tolerance, {explained} explained", "#4c1"),
            "coverage": ("coverage", f"{int(covered)} %", "#4c1")}
    return {NOTEBOOKS / "images" / f"badge_{name}.svg": badge(*words) for name, words in told.items()}


if __name__ == "__main__": keep_in_step(badges(), __doc__)
