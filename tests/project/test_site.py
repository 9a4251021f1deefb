"""The site as a reader meets it: built once, every link checked, and looked at in a real browser."""
import configparser
import fcntl
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urldefrag, urlparse

import pytest
from browser import Browser, find_chromium, serve

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from contents import SECTIONS

PAGES = {"front page": "index.html", "module": "06_choice/04_selection.html", "paper": "paper/burgers.html"}
NUMBERED = { # in the paper
    "03_data/06_dictionary": ["2"],
    "04_weakform/01_system": ["3,4"],
    "04_weakform/05_library": ["3"],
    "05_search/05_subsets": ["4"],
    "06_choice/02_posterior": ["7", "8", "5"],
    "06_choice/03_criterion": ["6", "9"],
    "07_trial/11_validation": ["11"],
    "07_trial/08_networks": ["10", "11"],
    "08_bayes/02_slab": ["14"],
    "supplement/g_ubic": ["12,13"],
}
LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src"}
OUTSIDE_IN_STYLE = re.compile(r"""(?:@import\s*|url\(\s*)["']?\s*(?:https?:)?//""")
NO_MATHJAX = "MathJax is not here: install npm, it comes with Node.js"
ELSEWHERE = ("canonical", "next", "prev", "index", "search") # links that load nothing

# JavaScript: what is asked of a page
FIGURES_ARE_SEEN = """
Promise.all([...document.querySelectorAll('article img')].map(async image => {
    image.loading = 'eager';
    await image.decode();
    return image.naturalWidth > 0 && image.getBoundingClientRect().width > 50
})).catch(() => [false]).then(all => all.every(Boolean))
"""
MARKUP_IS_SHOWN = r"""
[...document.querySelectorAll('article p')].some(part => /[{]target|[:]{3}|^[!][[]/.test(part.textContent))
"""
ERRORS_OF_FORMULAS = "[...document.querySelectorAll('mjx-merror')].map(error => error.textContent)"
TEXT_WITHOUT_CODE = r"""
[...document.querySelectorAll('article p')].map(part => {
    const copy = part.cloneNode(true);
    copy.querySelectorAll('code').forEach(code => code.remove());
    return copy.textContent
}).join('\n')
"""
FORMULAS_BEGIN_ON_THE_PAGE = """
[...document.querySelectorAll('article mjx-container[display] mjx-math')]
    .every(formula => formula.getBoundingClientRect().left >= 0)
"""
FOLDED = "[...document.querySelectorAll('article .cell_output details')]"
FOLDED_ROWS = FOLDED + r"""
.map(block => [
    block.open,
    parseInt(block.querySelector('summary').textContent.match(/\d+/)[0]),
    block.querySelectorAll('tbody tr').length
])
"""
TALLEST_FOLDED = f"""
Math.max(...{FOLDED}.map(block => block.querySelector('table').getBoundingClientRect().height))
"""
ROOM_OF_FORMULAS = """
[...document.querySelectorAll('article .cell_output p.math')]
    .map(formula => [formula.scrollWidth, formula.clientWidth])
"""
SIDES_OF_COLUMNS = """
['thead tr', 'tbody tr'].map(row =>
    [...document.querySelector(`article table.dataframe ${row}`).cells]
        .map(cell => getComputedStyle(cell).textAlign.replace('start', 'left')))
"""
LABELS_OF_FORMULAS = """
[...document.querySelectorAll('mjx-labels mjx-mtext')].map(label =>
    [...label.querySelectorAll('mjx-c')].map(glyph => getComputedStyle(glyph, '::before').content).join(''))
"""
CAPTIONS = """
[...document.querySelectorAll('.bd-sidebar-primary .caption-text')].map(caption => caption.textContent)
"""
FOUND_BEST_SUBSETS = """
[...document.querySelectorAll('#search-results li a')]
    .some(found => found.getAttribute('href').startsWith('05_search/05_subsets.html'))
"""


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    "The built site; of several test processes one builds it and the others wait."
    shared = tmp_path_factory.getbasetemp()
    if shared.name.startswith("popen-"): shared = shared.parent
    folder, told = shared / "site", shared / "site.built"
    with open(shared / "site.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            command = [sys.executable, ROOT / "tools" / "build_docs.py", "--out", folder]
            done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            told.write_text("built" if done.returncode == 0 else f"failed\n{done.stdout}\n{done.stderr}")
    assert told.read_text() == "built", told.read_text()
    return folder


class Page(HTMLParser):
    "Anchors of a page, where its links lead, and what it loads."
    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        if tag == "a" and found.get("href"): self.links.append(found["href"])
        if tag == "link" and found.get("rel") not in ELSEWHERE: self.loads.append(found["href"])
        if tag in LOADED and found.get(LOADED[tag]): self.loads.append(found[LOADED[tag]])


@pytest.fixture(scope="session")
def pages(site):
    "All pages of the site, by their files."
    files = [path for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts]
    return {path: Page(path) for path in files}


def outside(address): return bool(urlparse(address).netloc)


def test_it_builds(site): assert (site / "index.html").exists()


def test_every_notebook_is_a_page_and_on_the_sidebar(site, pages):
    inside = [path.relative_to(ROOT / "nbs") for path in (ROOT / "nbs").rglob("*.ipynb")]
    notebooks = [path.with_suffix(".html") for path in inside if not any(part[0] in "._" for part in path.parts)]
    linked = {unquote(urldefrag(link)[0]) for link in pages[site / "index.html"].links}
    def shown(page): return (site / page).exists() and (page.name == "index.html" or page.as_posix() in linked)
    assert [str(page) for page in notebooks if not shown(page)] == []


def test_links_and_anchors_resolve(site, pages):
    broken = []
    for path, page in pages.items():
        for link in page.links:
            address, anchor = urldefrag(link)
            if outside(link) or urlparse(link).scheme: continue
            target = (path.parent / unquote(address)).resolve() if address else path
            lost = anchor and target in pages and unquote(anchor) not in pages[target].anchors
            if not target.exists() or lost: broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_comes_from_elsewhere(site, pages):
    loads = [(path, address) for path, page in pages.items() for address in page.loads]
    assert [f"{path.relative_to(site)}: {address}" for path, address in loads if outside(address)] == []
    styles = {path.relative_to(site): path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    assert [str(path) for path, style in styles.items() if OUTSIDE_IN_STYLE.search(style)] == []
    def there(path, address): return (path.parent / unquote(urlparse(address).path)).exists()
    files = [(path, address) for path, address in loads if not address.startswith("data:")]
    assert [f"{path.relative_to(site)}: {address}" for path, address in files if not there(path, address)] == []


def test_public_names_are_listed_and_explained(site):
    import ubic
    listed = (site / "names.html").read_text(encoding="utf-8")
    named = [name for name in dir(ubic) if not name.startswith("_")]
    named = [name for name in named if not isinstance(getattr(ubic, name), ModuleType)]
    assert len(named) > 30 and [name for name in named if f"ubic.{name}</" not in listed] == []
    assert not re.search(r"<td><p>\s*</p></td>|<td></td>", listed)


def test_code_shows_no_markup_of_links(site, pages):
    "In a signature nbdev makes links of names, which a block of code shows as they are written."
    blocks = []
    for path in pages:
        found = re.findall(r"<pre.*?</pre>", path.read_text(encoding="utf-8"), re.DOTALL)
        blocks += [(path.relative_to(site).as_posix(), re.sub("<[^>]+>", "", block)) for block in found]
    assert len(blocks) > 1000
    links = [(page, re.search(r"\]\([^)\s]*\.(ipynb|html)", block)) for page, block in blocks]
    assert [(page, found[0]) for page, found in links if found] == []


def lines_of(file):
    "The lines of a page in Markdown or of a notebook."
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md": return text.splitlines()
    return [line for cell in json.loads(text)["cells"] for line in "".join(cell["source"]).splitlines()]


def test_rows_of_the_front_page_have_two_cells():
    "A bar in a sentence would begin a third cell, and what follows it would be lost."
    for file in (ROOT / "README.md", ROOT / "nbs" / "index.ipynb"):
        rows = [line for line in lines_of(file) if line.startswith("| [")]
        assert len(rows) > 50
        assert [row for row in rows if len(re.findall(r"(?<!\\)\|", row)) != 3] == []


def test_every_reference_can_be_followed():
    cells = json.loads((ROOT / "nbs" / "references.ipynb").read_text(encoding="utf-8"))["cells"]
    entries = [line for cell in cells for line in "".join(cell["source"]).splitlines() if line.startswith("- ")]
    assert len(entries) > 35
    assert [entry for entry in entries if not re.search(r"\]\(https://[\w./()-]+\)", entry)] == []


def test_packages_of_the_extras_are_among_the_references():
    settings = configparser.ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    extras = ("sindy", "bayes", "pinn", "symbolic", "pysr", "dedalus", "solvers")
    packages = [package for extra in extras for package in settings["DEFAULT"][f"{extra}_requirements"].split()]
    wanted = [re.match(r"[\w-]+", package)[0] for package in packages]
    page = (ROOT / "nbs" / "references.ipynb").read_text(encoding="utf-8").lower()
    assert "pyoperon" in wanted and [package for package in wanted if package not in page] == []


def test_code_of_a_module_is_on_its_page(site):
    "Helpers without documentation too, folded under the prose that explains them."
    page = (site / "05_search" / "03_exact.html").read_text(encoding="utf-8")
    assert "_check_room</span>" in page and page.index("Show the code") < page.index("_check_room</span>")


@pytest.fixture(scope="session")
def browser():
    if not find_chromium(): pytest.skip("there is no chromium on this machine; Debian's package `chromium` brings it")
    opened = Browser()
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def address(site):
    server = serve(site)
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()


def look(browser, address, page, width, formulas):
    "What is wrong with a page in a window of a given width, in words."
    browser.open(address + page, width)
    wrong = list(browser.complaints)
    wrong += [f"asks for {request}" for request in browser.requests if not request.startswith((address, "data:"))]
    if browser.ask("document.documentElement.scrollWidth") > width: wrong.append("the page scrolls sideways")
    if not browser.ask(FIGURES_ARE_SEEN): wrong.append("a figure is not visible")
    if browser.ask(MARKUP_IS_SHOWN): wrong.append("markup is shown as it is written")
    if not formulas: return wrong
    wrong += browser.ask(ERRORS_OF_FORMULAS)
    untypeset = re.search(r"\$\S.*\S\$|\\[(\[]", browser.ask(TEXT_WITHOUT_CODE))
    if untypeset: wrong.append("a formula is shown as it is written")
    if not browser.ask(FORMULAS_BEGIN_ON_THE_PAGE): wrong.append("the beginning of a formula cannot be reached")
    return wrong


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("page", PAGES)
def test_page_in_a_browser(browser, address, site, page, width):
    formulas = (site / "_static" / "mathjax").exists()
    assert look(browser, address, PAGES[page], width, formulas) == []
    assert browser.ask("document.querySelectorAll('article img').length") > 0
    assert not formulas or browser.ask("document.querySelectorAll('article mjx-container').length") > 0


@pytest.mark.parametrize("width", [1280, 390])
def test_page_of_all_results_is_short_and_unfolds(browser, address, width):
    browser.open(address + "paper/all_results.html", width)
    rows = browser.ask(FOLDED_ROWS)
    assert len(rows) == 16 and all(not unfolded and said == there for unfolded, said, there in rows)
    assert sum(there for *_, there in rows[1:]) > 600 # the first has the reasons
    height = browser.ask("document.querySelector('article').getBoundingClientRect().height")
    assert height < (8500 if width > 600 else 12000)
    browser.ask(f"{FOLDED}.forEach(block => block.open = true)")
    assert browser.ask(TALLEST_FOLDED) < 700


@pytest.mark.parametrize("width", [1280, 390])
def test_equation_of_a_result_is_seen_whole(browser, address, site, width):
    if not (site / "_static" / "mathjax").exists(): pytest.skip(NO_MATHJAX)
    browser.open(address + "tutorials/your_own_data.html", width)
    room = browser.ask(ROOM_OF_FORMULAS)
    assert room and [wide for wide in room if wide[0] > wide[1]] == []


def test_columns_of_a_result_are_aligned_as_their_headers(browser, address):
    browser.open(address + "tutorials/your_own_data.html")
    sides = browser.ask(SIDES_OF_COLUMNS)
    columns = ["left", "left", "right", "right", "right", "left"] # size, terms, BIC, uncertainty, UBIC, chosen
    assert sides == [columns]*2


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_all_pages_in_a_browser(browser, address, site, pages, width):
    formulas = (site / "_static" / "mathjax").exists()
    names = [path.relative_to(site).as_posix() for path in pages]
    looks = {name: look(browser, address, name, width, formulas) for name in names}
    assert {page: wrong for page, wrong in looks.items() if wrong} == {}


def test_formulas_are_part_of_the_site(site):
    if not (ROOT / "node_modules" / "mathjax").exists(): pytest.skip(NO_MATHJAX)
    assert (site / "_static" / "mathjax" / "tex-chtml-full.js").exists()


@pytest.mark.parametrize("page", NUMBERED)
def test_formulas_of_the_paper_carry_its_numbers(browser, address, site, page):
    if not (site / "_static" / "mathjax").exists(): pytest.skip(NO_MATHJAX)
    browser.open(f"{address}{page}.html")
    labels = browser.ask(LABELS_OF_FORMULAS)
    assert [re.sub(r"[^0-9,]", "", label) for label in labels] == NUMBERED[page]


def test_sidebar_search_and_dark_mode(browser, address):
    browser.open(address + "index.html")
    assert browser.ask(CAPTIONS) == list(SECTIONS)
    assert browser.ask("document.querySelectorAll('button.copybtn').length") > 0
    browser.open(address + "search.html?q=best_subsets")
    browser.wait(FOUND_BEST_SUBSETS)
    assert browser.complaints == []
    light = browser.ask("getComputedStyle(document.body).backgroundColor")
    browser.open(address + "index.html", dark=True)
    assert browser.ask("getComputedStyle(document.body).backgroundColor") != light
