"""Results in files: every kind comes back unchanged, and what is damaged or hostile is refused in a sentence."""
import io
import json
import os
import pkgutil
import subprocess
import sys
import warnings
import zipfile
from importlib import import_module
from importlib.util import find_spec

import matplotlib
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import ubic
import ubic.report
from equality import assert_same
from ubic import LinearSystem, Selection, best_subsets, load_result, save_result, saving, select
from ubic.ground.checks import UbicWarning
from ubic.ground.results import KINDS, html_of
from ubic.saving import Result
from ubic.system import from_triangle

matplotlib.use("Agg")


def pixels(draw):
    "What a function plots, as bytes."
    figure = np.ravel(draw())[0].figure
    figure.canvas.draw()
    shown = bytes(figure.canvas.buffer_rgba())
    matplotlib.pyplot.close("all")
    return shown


def assert_shows_the_same(one, other, plot=True):
    assert repr(one) == repr(other)
    if hasattr(one, "table"): assert_same(one.table(), other.table())
    if hasattr(one, "_repr_html_"): assert one._repr_html_() == other._repr_html_()
    if plot: assert pixels(one.plot) == pixels(other.plot)


# --- one result of every kind -----------------------------------------------------------------------------------------

def toy(n=120, p=5, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))*10.0**rng.uniform(-3, 3, p)
    y = X[:, 0]/X[:, 0].std() - 2*X[:, 3]/X[:, 3].std() + 0.1*rng.standard_normal(n)
    return LinearSystem(X, y, ["u", "u_x", "(u^2)_xx", "u*u_x", "my own"][:p], **options)


def dependent():
    system = toy()
    return LinearSystem(np.column_stack([system.X, system.X @ [1, 1, 0, 0, 2.0]]), system.y)


@pytest.fixture(scope="module")
def waves():
    x, t = np.linspace(0, 2*np.pi, 64, endpoint=False), np.linspace(0, 3, 61)
    start, pde = xr.Dataset({"u": ("x", np.exp(np.cos(x)))}, {"x": x}), {"u": {"u_xx": 0.1, "u*u_x": -0.5}}
    field = ubic.add_noise(ubic.simulate(pde, start, t), 5, seed=0)
    field = field.assign_attrs(title="waves", pde=json.dumps(pde), frames=np.arange(3), scale=np.float32(0.1))
    field.u.attrs["units"], field.x.attrs["units"] = "m/s", "m"
    return field


@pytest.fixture(scope="module")
def found(waves): return ubic.discover(waves, derivative_order=2)


def pair():
    "Two unknowns that drive each other."
    x, t = np.linspace(0, 2*np.pi, 48, endpoint=False), np.linspace(0, 3, 61)
    start = xr.Dataset({"u": ("x", np.exp(np.sin(x))), "v": ("x", np.cos(x) + np.sin(2*x))}, {"x": x})
    pde = {"u": {"u_xx": 0.1, "v": 1.0}, "v": {"u": -1.0, "v_xx": 0.1}}
    return ubic.add_noise(ubic.simulate(pde, start, t), 3, seed=0)


systems = {
    "with rows": toy, "counted": lambda: toy(n_eff=17.25), "dependent": dependent,
    "without rows": lambda: from_triangle(toy().R, 120, toy().terms, target="u_tt", n_eff=30.5),
}


@pytest.mark.filterwarnings("ignore:these terms are combinations")
@pytest.mark.parametrize("make", systems.values(), ids=systems)
def test_systems(make, tmp_path):
    system = make()
    path = system.save(tmp_path/"system.npz")
    with warnings.catch_warnings(action="error"): again = LinearSystem.load(path) # what was said is not said again
    assert_same(system, again)
    assert_shows_the_same(system, again, plot=make is toy)


@pytest.mark.parametrize("solver", ["exact", "greedy", "frols", "l0bnb", "two_step"])
def test_paths(solver, tmp_path):
    path = best_subsets(toy(), 4, solver)
    again = ubic.SubsetPath.load(path.save(tmp_path/"path.npz"))
    assert_same(path, again)
    assert_shows_the_same(path, again, plot=solver == "exact")


def noise_only():
    rng = np.random.default_rng(0)
    return LinearSystem(rng.standard_normal((100, 3)), rng.standard_normal(100))


choices = {
    "default": lambda: select(best_subsets(toy())),
    "paper": lambda: select(best_subsets(toy()), "paper", "P75", n_delta=5, gamma=1.0),
    "one term": lambda: select(best_subsets(toy(), 1)),
    "bic alone": lambda: select(best_subsets(noise_only())),
    "perfect": lambda: select(best_subsets(LinearSystem(toy().X, toy().X[:, 1]))),
    "dependent": lambda: select(best_subsets(dependent())),
    "ridge": lambda: select(best_subsets(toy(n_eff=40)), prior_mean="zero"),
}
NUMBERS = "support terms coef std bic ubic uncertainty lam trace advice margin equation sentences".split()


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
@pytest.mark.parametrize("make", choices.values(), ids=choices)
def test_selections(make, tmp_path):
    chosen = make()
    again = Selection.load(chosen.save(tmp_path/"chosen.npz"))
    assert_same(chosen, again)
    assert_shows_the_same(chosen, again, plot=make is choices["default"])
    for name in NUMBERS: assert_same(getattr(chosen, name), getattr(again, name))
    assert (chosen.verdict, chosen.verdict.reasons) == (again.verdict, again.verdict.reasons)
    assert chosen.equivalents() == again.equivalents()
    assert_same(chosen.evidence, ubic.posterior.Evidence.load(chosen.evidence.save(tmp_path/"evidence.npz")))


def test_a_discovery_with_everything(waves, tmp_path):
    found = ubic.discover(waves, derivative_order=2, denoise=lambda ds: ubic.denoise.savgol(ds, 5), validate="simulate")
    again = ubic.Discovery.load(found.save(tmp_path/"found.npz"))
    assert_same(found, again)
    assert_shows_the_same(found, again, plot=False) # its HTML has the pictures
    assert again["u"].refit is not None and again.used is not again.field
    assert again.errors()["u"].tobytes() == found.errors()["u"].tobytes()
    assert_same(found.validation, ubic.Validation.load(found.validation.save(tmp_path/"judged.npz")))
    assert_same(found["u"].refit, ubic.refit.Refit.load(found["u"].refit.save(tmp_path/"refit.npz")))


def test_what_is_shared_stays_shared_and_is_stored_once(tmp_path):
    found = ubic.discover(pair(), derivative_order=2)
    again = ubic.Discovery.load(found.save(tmp_path/"found.npz"))
    assert_same(found, again)
    assert again.used is again.field
    u, v = (again[name].path.system for name in "uv")
    assert u.X is v.X and np.shares_memory(found["u"].path.system.X, found["v"].path.system.X)
    small = found.save(tmp_path/"small.npz", rows=False)
    assert small.stat().st_size < (tmp_path/"found.npz").stat().st_size - u.X.nbytes
    assert str(ubic.Discovery.load(tmp_path/"small.npz")) == str(found)


def repeated(tmp_path): return ubic.stability(toy(), seeds=3, workers=1)
def scanned(tmp_path): return ubic.repeats.sensitivity(best_subsets(toy()))
def crossed(tmp_path): return ubic.splits.cross_validate(toy())
def relevant(tmp_path): return ubic.bayes.ard(toy())
def predictive(tmp_path): return ubic.bayes.uwaic(best_subsets(toy()))


@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
@pytest.mark.parametrize("make", [repeated, scanned, crossed, relevant, predictive])
def test_supplements(make, tmp_path):
    result = make(tmp_path)
    again = type(result).load(result.save(tmp_path/"result.npz"))
    assert_same(result, again)
    assert_shows_the_same(result, again)


@pytest.mark.skipif(not find_spec("arviz"), reason="this needs ubic[bayes]")
@pytest.mark.filterwarnings("ignore::ubic.field.UbicWarning")
def test_draws(tmp_path):
    from ubic.sampling import CoefficientPosterior, likelihood, sampled
    slab = ubic.bayes.spike_slab(toy(), 0.5)
    again = load_result(slab.save(tmp_path/"slab.npz"))
    assert_same(slab, again)
    assert_shows_the_same(slab, again)
    assert_same(slab, CoefficientPosterior.load(tmp_path/"slab.npz")) # a kind of
    like = likelihood(toy())
    def chain(seed):
        draws = np.random.default_rng(seed).standard_normal((50, 5))
        return {"coef": draws, ".diverging": np.zeros(50, bool)}
    drawn = CoefficientPosterior("made up", like, sampled("made up", like, {}, chain=chain, chains=2, cache=False))
    again = CoefficientPosterior.load(drawn.save(tmp_path/"drawn.npz"))
    assert_same(drawn, again)
    assert_shows_the_same(drawn, again)


@pytest.mark.parametrize("method", ["denoised_weak_form", "convolutional_weak_form"])
def test_fits(method, tmp_path):
    fit = getattr(ubic.accuracy, method)(ubic.add_noise(ubic.datasets.burgers(), 10, seed=0), ["u_xx", "u*u_x"])
    again = load_result(fit.save(tmp_path/"fit.npz"))
    assert_same(fit, again)
    assert_shows_the_same(fit, again)


def test_closed_forms(tmp_path):
    import sympy
    a, b, c, x = (sympy.Symbol(name, real=True) for name in "abcx")
    letters = pd.Index([a, b, c], name="constant")
    constants = pd.DataFrame({"value": [1.5, 0.1, -1/3], "std": [0.1, 1e-17, 5e-324]}, letters)
    columns = {"formula": ["x", "sin(x)"], "complexity": [1, 2], "misfit": [0.5, 0.1], "chosen": [False, True]}
    table = pd.DataFrame(columns)
    frame = xr.Dataset({"h": ("x", np.linspace(0, 1, 5)**2)}, {"x": np.linspace(0, 1, 5)})
    templates = (
        a*sympy.sin(b*x + c) - x/3, (a + b*x)**2*sympy.exp(-c*(x - 1)**2),
        sympy.cos(x)**-2 + 2*a - sympy.sqrt(b**2 + 1)*c, a*x,
    )
    for template in templates:
        form = ubic.ClosedForm("h", template, constants, 0.1, 4.5, table, frame)
        again = ubic.ClosedForm.load(form.save(tmp_path/"form.npz"))
        assert_same(form, again)
        assert_shows_the_same(form, again, plot=template == a*x)
        assert form(frame.x).tobytes() == again(frame.x).tobytes() and hash(again.template) == hash(template)
    odd = ubic.ClosedForm("h", sympy.Float(0.5)*x, constants, 0.1, 4.5, table, frame)
    with pytest.raises(TypeError, match="no formula"): odd.save(tmp_path/"form.npz")


@pytest.mark.skipif(not find_spec("torch"), reason="this needs ubic[pinn]")
def test_networks(waves, tmp_path):
    training = dict(physics={"x": slice(None, None, 4)}, layers=(4,), epochs=2, iterations=5)
    network = ubic.pinn({"u_xx": 0.1, "u*u_x": -0.5}, waves, {"t": slice(40)}, **training)
    again = ubic.TrainedNetwork.load(network.save(tmp_path/"network.npz"))
    assert_same(network, again)
    assert_same(network.predict(), again.predict())
    assert_shows_the_same(network, again)


def rooms():
    "All modules of the package that can be imported here."
    for module in pkgutil.walk_packages(ubic.__path__, "ubic."):
        if module.name != "ubic.trial.jets" or find_spec("torch"): yield import_module(module.name)


def test_every_result_can_be_saved():
    "Whatever has `save` is in the list of kinds, and the list names only what exists."
    classes = {value for room in rooms() for value in vars(room).values() if isinstance(value, type)}
    results = {cls for cls in classes if issubclass(cls, Result)}
    for kind in results - {Result}: assert KINDS[kind.__name__].cls is kind, kind
    for name, kind in KINDS.items():
        if kind.package != "ubic": continue
        assert getattr(import_module(kind.cls.__module__), kind.cls.__name__) is kind.cls, name


def test_lists_and_mappings_of_results(found, tmp_path):
    many = {"found": dict(found), 3: [toy(), (best_subsets(toy(), 2), None)], ("a", 1.5): np.arange(6).reshape(2, 3).T}
    again = load_result(save_result(many, tmp_path/"many.npz"))
    assert_same(many, again)
    assert again[("a", 1.5)].flags.f_contiguous


def test_in_another_process_and_with_the_same_bytes(found, tmp_path):
    one, other = (found.save(tmp_path/name) for name in ("one.npz", "other.npz"))
    assert one.read_bytes() == other.read_bytes() == load_result(one).save(tmp_path/"again.npz").read_bytes()
    program = f"import ubic; print(ubic.load_result({str(one)!r}))"
    options = dict(capture_output=True, check=True, env=os.environ | {"PYTHONIOENCODING": "utf-8"})
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, **options).stdout.decode() == f"{found}{os.linesep}"


def test_terms_alone_in_another_process(tmp_path):
    path = save_result([ubic.Term.parse("u*u_x")], tmp_path/"terms.npz")
    program = f"from ubic.saving import load_result; print(load_result({str(path)!r}))"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told == "[u*u_x]\n"


def test_a_field_in_chunks_stays_where_it_is(found, tmp_path):
    pytest.importorskip("dask")
    lazy = ubic.Discovery(found.selections, found.field.chunk({"t": 20}), found.used.chunk({"t": 20}))
    with pytest.raises(ValueError, match="in chunks"): lazy.save(tmp_path/"lazy.npz")
    assert str(load_result(save_result(dict(lazy), tmp_path/"lazy.npz"))["u"]) == str(found["u"])


# --- writing ----------------------------------------------------------------------------------------------------------

def test_all_or_nothing(tmp_path, monkeypatch):
    path = select(best_subsets(toy())).save(tmp_path/"chosen.npz")
    before = path.read_bytes()
    def fail(file, **arrays):
        file.write(b"half")
        raise KeyboardInterrupt
    monkeypatch.setattr(saving.np, "savez", fail)
    with pytest.raises(KeyboardInterrupt): best_subsets(toy()).save(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["chosen.npz"]


@pytest.mark.parametrize("name, words", [
    ("chosen.json", "saved as .npz"), ("nowhere/chosen.npz", "no folder"), ("folder.npz", "is a folder"),
])
def test_bad_names(name, words, tmp_path):
    (tmp_path/"folder.npz").mkdir()
    with pytest.raises(ValueError, match=words): toy().save(tmp_path/name)


class Strange: pass


UNKNOWN = [print, Strange(), {1, 2}, 1j, np.longdouble(1), b"bytes", iter([]), pytest, type("Selection", (), {})()]


@pytest.mark.parametrize("value", UNKNOWN, ids=lambda value: type(value).__name__)
def test_what_cannot_be_saved_is_named(value, tmp_path):
    with pytest.raises(TypeError, match="cannot be saved"): save_result([value], tmp_path/"value.npz")
    assert not os.listdir(tmp_path)


def test_parts_of_the_wrong_kind_are_not_written(tmp_path):
    from dataclasses import replace
    odd = replace(select(best_subsets(toy())), k="one")
    with pytest.raises(ValueError, match="'k' of Selection is a str"): odd.save(tmp_path/"chosen.npz")


# --- reading what is not a result -------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def chosen(tmp_path_factory):
    path = select(best_subsets(toy(n=30))).save(tmp_path_factory.mktemp("chosen")/"chosen.npz")
    with np.load(path) as archive: return path.read_bytes(), dict(archive)


def refused(path, words="cannot be read"):
    with pytest.raises(ValueError, match=words) as caught: load_result(path)
    message = str(caught.value)
    assert message.startswith("`path` ") and path.name in message, message
    assert "\n" not in message and message.endswith("."), message


def changed(path, arrays, change):
    "An archive whose text was changed by a function."
    told = json.loads(str(arrays["ubic_result"]))
    change(told)
    np.savez(path, **arrays | {"ubic_result": np.array(json.dumps(told))})
    return path


def test_every_cut_is_noticed(chosen, tmp_path):
    whole, path = chosen[0], tmp_path/"short.npz"
    for length in [0, 1, 4, 100, *range(200, len(whole), 997), len(whole) - 1]:
        path.write_bytes(whole[:length])
        refused(path)


def test_a_flipped_bit_is_noticed_or_without_effect(chosen, tmp_path):
    whole, path = chosen[0], tmp_path/"damaged.npz"
    path.write_bytes(whole)
    good, harmless = load_result(path), 0
    for place in range(0, len(whole), 41):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << place % 8)]) + whole[place + 1:])
        try: again = load_result(path)
        except ValueError as error: assert path.name in str(error)
        else: harmless += assert_same(good, again) is None
    assert harmless < 40 # times of day and the like in the directory of the archive


@pytest.mark.parametrize("name, content", [
    ("text.npz", b"u_t = u_xx"), ("empty.npz", b""), ("zip.npz", b"PK\x05\x06" + bytes(18)),
])
def test_other_files(name, content, tmp_path):
    (tmp_path/name).write_bytes(content)
    refused(tmp_path/name)


def test_fields_and_results_are_not_mixed_up(waves, chosen, tmp_path):
    field, result = ubic.save_field(waves, tmp_path/"field.npz"), tmp_path/"chosen.npz"
    result.write_bytes(chosen[0])
    refused(field, "`ubic.load` reads fields")
    with pytest.raises(ValueError, match="ubic.load_result reads it"): ubic.load(result)
    words = "kind Selection, not Discovery; read it with Selection.load"
    with pytest.raises(ValueError, match=words): ubic.Discovery.load(result)
    for path, words in ((tmp_path/"none.npz", "no such file"), (tmp_path, ".npz"), (tmp_path/"chosen.txt", ".npz")):
        with pytest.raises(ValueError, match=words): load_result(path)
    with pytest.raises(TypeError, match="name of a file"): load_result(3)


def set_in(*keys_and_value):
    *keys, last, value = keys_and_value
    def change(told):
        for key in keys: told = told[key]
        told[last] = value
    return change


def kind_of(told, kind): return next(inside for name, inside in told["parts"] if name == kind)


lies = {
    "later version": (set_in("format", 2), "later version of ubic"),
    "no version": (lambda told: told.pop("format"), "format"),
    "version in words": (set_in("format", "one"), "cannot be read"),
    "no parts": (lambda told: told.pop("parts"), "parts"),
    "unknown kind": (set_in("parts", 1, 0, "Popen"), "Popen"),
    "kind of another module": (set_in("parts", 1, 0, "os.system"), "os.system"),
    "kind that is no name": (set_in("parts", 1, 0, ["Selection"]), "cannot be read"),
    "part beyond": (set_in("result", {"part": 99}), "where a value should be"),
    "part before": (set_in("result", {"part": -1}), "where a value should be"),
    "part of itself": (
        lambda told: kind_of(told, "Selection").update(evidence={"part": len(told["parts"]) - 1}),
        "where a value should be",
    ),
    "array that is not there": (
        lambda told: kind_of(told, "SubsetPath").update(rss={"array": "a999"}),
        "where a value should be",
    ),
    "unknown tag": (set_in("result", {"exec": "print(1)"}), "where a value should be"),
    "two tags": (lambda told: kind_of(told, "Selection").update(k={"float": "1"}), "where a value should be"),
    "part of a later version": (
        lambda told: kind_of(told, "Selection").update(color="blue"),
        "Selection has no part 'color'",
    ),
    "part too few": (lambda told: kind_of(told, "Selection").pop("k"), "missing"),
    "wrong type": (lambda told: kind_of(told, "Selection").update(trace="none"), "'trace' of Selection is a str"),
    "wrong part": (
        lambda told: kind_of(told, "Selection").update(evidence={"part": 0}),
        "'evidence' of Selection is a LinearSystem",
    ),
    "no triangle": (lambda told: kind_of(told, "LinearSystem").update(R=[[1, 2], [3, 4]]), "upper triangle"),
    "rows that do not fit": (
        lambda told: kind_of(told, "LinearSystem").update(rows={"tuple": [[[1.0, 2.0]], [1.0]]}),
        "do not fit",
    ),
    "a large number": (lambda told: kind_of(told, "Selection").update(k={"number": ["int8", 300]}), "cannot be read"),
    "a type that takes memory": (
        lambda told: kind_of(told, "Selection").update(k={"number": ["V1000000000000", 10**12]}),
        "where a value should be",
    ),
    "a shape that takes memory": (set_in("result", {"values": [[10**6, 10**6], [1]]}), "where a value should be"),
    "keys that cannot be keys": (set_in("result", {"dict": [[[1], 2]]}), "cannot be read"),
    "pairs of one": (set_in("result", {"dict": [[1]]}), "cannot be read"),
    "a term that is none": (set_in("result", {"term": "u_xq!"}), "not a power or a derivative"),
    "a formula that runs": (set_in("result", {"formula": "__import__('os').getcwd()"}), "no letter of a formula"),
    "a formula that calls": (set_in("result", {"formula": {"sympify": ["x"]}}), "no operation"),
    "deep nesting": (set_in("result", eval("["*80 + "]"*80)), None),
}


@pytest.mark.parametrize("change, words", lies.values(), ids=lies)
def test_texts_that_lie(chosen, change, words, tmp_path):
    path = changed(tmp_path/"lie.npz", chosen[1], change)
    if words is None: load_result(path) # odd, and harmless
    else: refused(path, words)


@pytest.mark.parametrize("text", [
    "", "{", "[]", "null", "3", "{}", "\x00", "["*100_000, '{"format": NaN}', '{"format": 1, "parts": 3, "result": 1}',
])
def test_texts_that_are_none(text, tmp_path):
    np.savez(tmp_path/"text.npz", ubic_result=np.array(text))
    refused(tmp_path/"text.npz")


@pytest.mark.parametrize("member", [np.arange(3), np.array(["a", "b"]), np.array(b"bytes")])
def test_members_that_are_no_text(member, tmp_path):
    np.savez(tmp_path/"member.npz", ubic_result=member)
    refused(tmp_path/"member.npz")


def test_pickles_are_never_opened(chosen, tmp_path):
    class Trap:
        def __reduce__(self): return os.mkdir, (str(tmp_path/"sprung"),)
    for name in ("ubic_result", "a0"):
        np.savez(tmp_path/"trap.npz", **chosen[1] | {name: np.array([Trap()], object)})
        refused(tmp_path/"trap.npz", "Python objects")
    assert not (tmp_path/"sprung").exists()


def test_headers_that_lie_cost_no_memory(chosen, tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (2**20, 2**20)})
    path = tmp_path/"large.npz"
    path.write_bytes(chosen[0])
    with zipfile.ZipFile(path, "a") as archive: archive.writestr("b0.npy", header.getvalue() + bytes(64))
    refused(path, "claims")


def test_a_hostile_formula_is_no_code(tmp_path):
    "SymPy writes letters into code when it computes values; what is no name never gets there."
    import sympy
    table = pd.DataFrame({"value": [1.0], "std": [0.1]})
    frame = xr.Dataset({"u": ("x", np.arange(4.0))}, {"x": np.arange(4.0)})
    x, a = sympy.symbols("x a", real=True)
    path = ubic.ClosedForm("u", x*a, table, 0.1, 4.0, table, frame).save(tmp_path/"form.npz")
    with np.load(path) as archive: arrays = dict(archive)
    spy = f"__import__('os').mkdir({str(tmp_path/'sprung')!r})"
    def use_spy(told): kind_of(told, "ClosedForm").update(template={"formula": {"Mul": ["x", spy]}})
    refused(changed(path, arrays, use_spy), "no letter")
    assert not (tmp_path/"sprung").exists()


@pytest.mark.skipif(not find_spec("arviz"), reason="this needs ubic[bayes]")
def test_a_missing_package_is_named(tmp_path, monkeypatch):
    with warnings.catch_warnings(action="ignore", category=UbicWarning): slab = ubic.bayes.spike_slab(toy(), 0.5)
    path = slab.save(tmp_path/"slab.npz")
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match="ubic\\[bayes\\]"): load_result(path)


def test_markup_in_a_file_is_shown_as_text(chosen, found, tmp_path):
    "A page that shows a result must not run what its file says."
    spell = "<script>alert(1)</script>"
    def enchant(told):
        kind_of(told, "Selection").update(advice=[spell], unexplained=spell, rivals=[])
        kind_of(told, "Evidence").update(mode=spell)
        kind_of(told, "SubsetPath").update(solver=spell)
        kind_of(told, "LinearSystem").update(target=spell, terms=[f"{spell}{j}" for j in range(5)])
    again = load_result(changed(tmp_path/"spell.npz", chosen[1], enchant))
    for result in (again, again.path, ubic.stability(again.path.system, seeds=0, workers=1)):
        assert spell in repr(result) and "<script" not in result._repr_html_()
    page = ubic.report.to_html(ubic.Discovery({"u": again}, found.field, found.used), spell)
    assert "<script" not in page


# --- pages ------------------------------------------------------------------------------------------------------------

def test_pages_show_markup_as_text():
    assert html_of("<b>", "two") == "<p>&lt;b&gt;</p><p>two</p>"
    equation = ubic.Equation("u_t", ("a<b",), (1.0,))
    assert html_of(equation) == f"<p>${equation.latex.replace('<', '&lt;')}$</p>"
