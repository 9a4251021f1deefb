"Report: what it shows, that it needs nothing from outside, and what happens when something is missing."
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest

import ubic
from discovered import found
from ubic import report
from ubic.choice.selection import Reason, ReasonKind
from ubic.choice.traces import Trace
from ubic.criterion import Verdict
from ubic.pipeline import Discovery
from ubic.growth import Growth, Step
from ubic.report import find_browser, set_equation, set_reasons, to_html, write_report
from ubic.terms import Equation
from ubic.widgets import explore

matplotlib.use("Agg")
has_browser = pytest.mark.skipif(find_browser() is None, reason="no browser that prints")


class Balanced(HTMLParser):
    "Fails when elements are not closed in order."
    def __init__(self, page):
        super().__init__()
        self.open = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img", "br"): self.open.append(tag)

    def handle_endtag(self, tag): assert self.open.pop() == tag


def test_page_answers_all_questions(found):
    page = to_html(found, "A <title>", "ubic discover a&b.nc")
    expected = [
        "A &lt;title&gt;", "class='verdict clear'", "<h2>Data</h2>", "Coefficients", "standard deviation",
        "The best equation of each size", "Settings and versions", "fingerprint", f"ubic {ubic.__version__}", "numpy",
        "ubic discover a&amp;b.nc", "noise measured",
    ]
    for words in expected: assert words in page, words
    Balanced(page)


def test_page_needs_nothing_from_outside(found):
    page = to_html(found)
    assert not re.search(r"http|<script|<link|@import|url\(|src='(?!data:)", page)


def test_same_discovery_gives_the_same_page(found): assert to_html(found, "x") == to_html(found, "x")


def test_denoised_data_are_shown_next_to_the_measured(found):
    both = Discovery(found.selections, found.field, found.field*0.9)
    assert "as measured and denoised" in to_html(both) and "denoised" not in to_html(found)


def test_several_unknowns_keep_their_settings_apart(found):
    field = found.field.assign(v=found.field.u + 1)
    page = to_html(Discovery({"u": found["u"], "v": replace(found["u"], tau0=0.123)}, field, field))
    rows = dict(re.findall(r"<th>([uv]: criterion)</th><td>(.*?)</td>", page))
    assert "0.02" in rows["u: criterion"] and "0.123" in rows["v: criterion"] and page.count("<h2>Evidence") == 2


def test_doubts_are_told_once(found):
    doubtful = replace(found["u"], rivals=[[ubic.Term.parse("u^2")]], advice=["Consider <this>."])
    page = to_html(Discovery({"u": doubtful}, found.field, found.field))
    assert "class='verdict ambiguous'" in page and "Consider &lt;this&gt;." in page
    assert page.count("u^2 explains the data as well") == 1


def test_rivals_run_beside_the_choice(found):
    doubtful = replace(found["u"], rivals=[[ubic.Term.parse("u_x"), ubic.Term.parse("u_xx")]])
    without = Discovery({"u": doubtful}, found.field, found.field)
    page = to_html(without)
    assert "Running the equations may tell them apart" in page and "<h2>Simulation</h2>" not in page
    judged = Discovery({"u": doubtful}, found.field, found.field, ubic.validate(without))
    page = to_html(judged)
    Balanced(page)
    assert "Among the competitors are the rivals of the verdict: u_t: u_x, u_xx." in page
    assert "<td>u_t: u_x, u_xx</td>" in page and "fitted to the states:" in page
    assert "Running the equations" not in page
    assert "Running the equations" not in to_html(found)


def test_rivals_and_weak_points_are_two_lists():
    rivals = [Reason(ReasonKind.RIVAL, f"{terms} the data as well") for terms in ("u_x, u explain", "u_xxx explains")]
    weak = [
        Reason(ReasonKind.SIMPLER, terms=["u"]),
        Reason(ReasonKind.RUNNER_UP, size=2, margin=4.9),
    ]
    def items(sentences): return "<ul>" + "".join(f"<li>{sentence}</li>" for sentence in sentences) + "</ul>"
    both = items(rivals) + "<p>Besides, the choice has weak points:</p>" + items(weak)
    assert set_reasons(Verdict("ambiguous", rivals + weak)) == both
    assert set_reasons(Verdict("ambiguous", rivals)) == items(rivals)
    assert set_reasons(Verdict("fragile", weak)) == items(weak) and set_reasons(Verdict("clear")) == ""


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
def test_weak_points_of_a_doubtful_choice():
    x, t = np.arange(128)*2*np.pi/128, np.linspace(0, 2, 80)
    wave = ubic.as_field(np.sin(x[:, None] - t), x=x, t=t)
    page = to_html(ubic.discover(ubic.add_noise(wave, 10, seed=0)))
    rivals = "from others:</p><ul><li>u_xxx explains the data as well</li></ul>"
    weak = "<p>Besides, the choice has weak points:</p><ul><li>the field moves without changing its shape"
    assert re.search(rivals.replace("</li></ul>", "</li>.*</ul>") + weak, page)


@pytest.fixture(scope="module")
def grown():
    "How candidates grew, in two steps."
    first = Step("derivatives of powers", "u_t", 16, "u_t = 0.3 u_xx", 4.1, "noise", False, 0.21)
    return Growth([first, replace(first, family="products of derivatives", candidates=27, left=1.01, enough=True)])


def test_candidates_that_joined_are_shown(found, grown):
    alone = to_html(found)
    assert "What was offered, and what it left" in alone and "What each family" not in alone
    page = to_html(Discovery(found.selections, found.field, found.field, growth={"u": grown}))
    Balanced(page)
    assert "<td>products of derivatives</td>" in page and "1.01 × noise" in page and "seconds" not in page
    assert page.count("<img") == alone.count("<img") + 1
    assert "What was offered" not in to_html(Discovery(found.selections, found.field, found.field))


def test_what_was_measured_is_shown(found):
    page = to_html(found)
    assert "Why each term is in" in page and "What could still hide" in page
    for name in ("evidence lost without it", "could be up to, % of the target"): assert f"<th>{name}</th>" in page
    bare = replace(found["u"], standing=None, left_out=None)
    assert "What could still hide" not in to_html(Discovery({"u": bare}, found.field, found.field))


def test_many_candidates_are_shown_in_part(found):
    limits = found["u"].limits()
    names = [ubic.Term.parse(f"u^{power}") for power in range(1, 21)]
    many = replace(limits, terms=names, **{part: np.ones(20) for part in ("coef", "std", "sizes")})
    page = to_html(Discovery({"u": replace(found["u"], left_out=many)}, found.field, found.field))
    assert "<p>8 more could contribute less.</p>" in page
    none = replace(limits, terms=[], **{part: np.ones(0) for part in ("coef", "std", "sizes")})
    page = to_html(Discovery({"u": replace(found["u"], left_out=none)}, found.field, found.field))
    assert "Why each term is in" in page and "What could still hide" not in page


def test_traces_stand_below_the_equation(found):
    trace = Trace(ubic.Term.parse("u_xxxx"), 2e-5, 0.0012, "second-order differences in space")
    page = to_html(Discovery({"u": replace(found["u"], traces=(trace,))}, found.field, found.field))
    assert f"<li>{trace}</li>" in page and "traces of the grid" in page and "traces of the grid" not in to_html(found)


def test_subscripts_stand_below_the_line(found, tmp_path):
    pytest.importorskip("websocket")
    from browser import Browser, find_chromium
    if find_chromium() is None: pytest.skip("no chromium")
    fonts = subprocess.run(["fc-list"], capture_output=True, text=True).stdout if shutil.which("fc-list") else ""
    if not re.search("Math", fonts): pytest.skip("no font for formulas")
    (tmp_path / "report.html").write_text(to_html(found), encoding="utf-8")
    browser, box = Browser(), "(e => {let b = e.getBoundingClientRect(); return [b.top, b.bottom]})"
    try:
        browser.open((tmp_path / "report.html").as_uri())
        pairs = browser.ask(f"[...document.querySelectorAll('.equation msub')].map(e => [...e.children].map({box}))")
    finally: browser.close()
    assert len(pairs) >= 3 and all(lower[0] > base[0] + 3 and lower[1] > base[1] + 1 for base, lower in pairs)


@pytest.mark.parametrize("other, words", [
    (-0.2, ["All runs diverge", "how long each run lasted"]),
    (0.1, ["The chosen PDE diverges", "behind the best of them"]),
])
def test_runs_that_diverge(found, other, words):
    wrong = replace(found["u"], refit=replace(found["u"].refit, coef=np.array([-0.1, -1.0])))
    lost = Discovery({"u": wrong}, found.field, found.field)
    validation = ubic.validate(lost, competitors=[{"u_xx": other, "u*u_x": -1.0}], fit_coefficients=False)
    page = to_html(Discovery(lost.selections, found.field, found.field, validation))
    Balanced(page)
    assert all(word in page for word in words) and "lost before its coefficients could be fitted" in page
    assert "<td>diverges</td>" in page and not re.search(r"<td>(inf|nan|NaN)</td>", page)


def test_known_truth_that_was_missed(found):
    missed = explore(found).at_size(3).view
    assert "its terms are others" in to_html(Discovery({"u": missed}, found.field, found.field))


formulas = [["u_xx", "u*u_x"], ["u^2*u_xxxx", "(u^2)_xx"], ["1", "v*w_y", "u_xy"], ["a <b> & \\c_{2}", "x 1"]]


@pytest.mark.parametrize("terms", formulas)
def test_formulas_lose_nothing(terms):
    coef = tuple(1e-7*(-3)**k for k in range(len(terms)))
    page = set_equation(Equation("u_t", tuple(map(report_term, terms)), coef, (1e-9,)*len(terms)))
    Balanced(page)
    text = re.sub(r"<[^>]*>|\s", "", page)
    assert page.count("<math>") == text.count("±") == len(terms)
    assert "\\" not in text and "{" not in text.replace("c_{2}", "")
    assert page.count("<msup>") >= len(terms) # powers of ten


def report_term(text):
    try: return ubic.Term.parse(text)
    except ValueError: return text


@pytest.mark.parametrize("name", ["page.docx", "page", "no/such/folder/page.html"])
def test_bad_paths_are_told_at_once(found, name, tmp_path):
    with pytest.raises(ValueError, match="`path` is"): write_report(found, tmp_path/name)
    assert list(tmp_path.iterdir()) == []


@has_browser
def test_pdf_is_printed(found, tmp_path):
    assert write_report(found, tmp_path/"page.pdf").read_bytes().startswith(b"%PDF")


def test_pdf_without_a_browser(found, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "find_browser", lambda: None)
    with pytest.raises(OSError, match="none was found; write .html"): write_report(found, tmp_path/"page.pdf")


def test_browser_that_fails_leaves_the_old_file(found, tmp_path, monkeypatch):
    (tmp_path/"page.pdf").write_text("old")
    monkeypatch.setattr(report, "find_browser", lambda: "false")
    with pytest.raises(OSError, match="did not print"): write_report(found, tmp_path/"page.pdf")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page.pdf", "old")]


def test_report_is_self_contained(tmp_path):
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0), denoise="ksvd")
    page = to_html(found, "A <title>")
    assert "http" not in page and "<script" not in page
    assert "A &lt;title&gt;" in page and "as used" not in page.split("<img")[0]
    assert write_report(found, tmp_path/"page.html").read_text() != ""


def test_interrupted_report_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path/"page.html"
    path.write_text("old")
    monkeypatch.setattr("ubic.telling.report.to_html", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt): write_report(None, path)
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["page.html"]
