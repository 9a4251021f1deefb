"""The order in which the notebooks are read: sidebar of the site, and tables of the front page.

Writes nbs/sidebar.yml, which Quarto reads, and the tables in nbs/index.ipynb; tools/build_docs.py takes the same order.
"""
from fnmatch import fnmatch

import yaml

from generated import NOTEBOOKS, find_notebooks, keep_in_step, read_cells, text, with_prose

# section: what is said about it, and its pages; a page that is named goes there, a pattern takes the others it fits
SECTIONS = {
    "Get started": (
        "From your own data to an equation.",
        "index tutorials/your_own* tutorials/*uncertainty* tutorials/*",
    ),
    "The paper": (
        "Reproduced figure by figure and table by table.",
        "paper/burgers paper/kdv paper/ks paper/navier_stokes paper/reaction_diffusion paper/gray_scott paper/* "
        "references",
    ),
    "The supplement": (
        "The supplement of the paper, section by section.",
        "supplement/g_ubic supplement/uwaic supplement/spike_slab supplement/horseshoe supplement/threshold_ard "
        "supplement/*",
    ),
    "Beyond the paper": ("Questions that the paper leaves open.", "beyond/*"),
    "Benchmarks": ("Speed beside other packages.", "beyond/benchmarks"),
    "Ground": (
        "What every other part stands on. From here on each notebook is one module and one lesson.",
        "01_ground/*",
    ),
    "Language": ("Terms and equations.", "02_language/*"),
    "Data": ("Fields: made, read, kept, surveyed and cleaned.", "03_data/*"),
    "Weak form": ("From a field to a linear system.", "04_weakform/*"),
    "Search": ("The best subset of every size.", "05_search/*"),
    "Choice": ("How many terms, and how sure.", "06_choice/*"),
    "Trial": ("What an equation does when it is run.", "07_trial/*"),
    "Bayes": ("The criteria of the supplement.", "08_bayes/*"),
    "The paper's data": ("Fields, settings and published numbers.", "09_paper/*"),
    "Road": ("Everything in one call.", "10_road/*"),
    "Telling": ("Pages, sliders and the terminal.", "11_telling/*"),
    "API": ("All public names, and how the package is built.", "12_api house"),
}


def name(path): return path.relative_to(NOTEBOOKS).with_suffix("").as_posix()


def pages():
    "The pages of each section, in reading order."
    names = [name(path) for path in find_notebooks()]
    wanted = {section: patterns.split() for section, (_, patterns) in SECTIONS.items()}
    named = {pattern for patterns in wanted.values() for pattern in patterns if "*" not in pattern}
    missing = sorted(named - set(names))
    if missing: raise SystemExit(f"tools/contents.py names {', '.join(missing)}, which is not in nbs.")

    def fits(page, pattern): return fnmatch(page, pattern) and page.count("/") == pattern.count("/")

    def fitting(pattern):
        if pattern in named: return [pattern]
        return [page for page in names if page not in named and fits(page, pattern)]

    def of_section(patterns): return list(dict.fromkeys(page for pattern in patterns for page in fitting(pattern)))
    return {section: of_section(patterns) for section, patterns in wanted.items()}


def opening(page):
    "Title and first sentence of a page, as its notebook has them."
    lines = text(read_cells(NOTEBOOKS / f"{page}.ipynb")[0]["source"]).splitlines()
    return lines[0].removeprefix("# "), next((line[2:] for line in lines if line.startswith("> ")), "")


def sidebar():
    "The sidebar as Quarto wants it."
    def entry(section, found): return {"section": section, "contents": [f"{page}.ipynb" for page in found]}
    listed = [entry(section, found) for section, found in pages().items() if found]
    website = {"website": {"sidebar": {"contents": listed}}}
    remark = "# made by `make export` from tools/contents.py\n"
    return remark + yaml.safe_dump(website, sort_keys=False, allow_unicode=True)


def line_of_table(page):
    "Title and first sentence of a page, as a line of a table."
    title, sentence = (part.replace("|", "\\|") for part in opening(page))
    return f"| [{title}]({page}.ipynb) | {sentence} |"


def tables():
    "The tables of the front page."
    shown = ["## Chapters"]
    for section, found in pages().items():
        rows = [line_of_table(page) for page in found if page != "index"]
        head = f"**{section}.** {SECTIONS[section][0]}\n\n| page | what it is about |\n|---|---|\n"
        if rows: shown.append(head + "\n".join(rows))
    return "\n\n".join(shown)


def front_page():
    "The front page with its tables made again."
    return with_prose(NOTEBOOKS / "index.ipynb", lambda prose: tables() if prose.startswith("## Chapters") else prose)


if __name__ == "__main__":
    keep_in_step({NOTEBOOKS / "sidebar.yml": sidebar(), NOTEBOOKS / "index.ipynb": front_page()}, __doc__)
