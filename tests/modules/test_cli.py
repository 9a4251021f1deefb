"""The command line: its examples run, its mistakes end in a sentence, its JSON is strict."""
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ubic
from ubic import cli
from ubic.cli import main
from ubic.telling.words import OPTIONS

NOTEBOOK = Path(__file__).resolve().parents[2]/"nbs"/"11_telling"/"04_cli.ipynb"


def shell_examples():
    "Lines of the blocks marked `sh` in the notebook."
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    blocks = [block for text in texts for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]
    return [line for block in blocks for line in block.splitlines() if line]


def help_examples(): return [line for line in map(str.strip, cli.EXAMPLES.splitlines()) if line.startswith("ubic ")]


def run(*arguments, **environment):
    command = [sys.executable, "-m", "ubic.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=os.environ | environment)


def strict(text): return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))


def last_line(capsys): return capsys.readouterr().err.strip().splitlines()[-1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_examples_of_the_notebook_run(folder):
    examples = [shlex.split(line) for line in shell_examples()]
    assert {words[0] for words in examples} == {"ubic"} and {words[1] for words in examples} == set(cli.COMMANDS)
    for words in examples: assert main(words[1:]) == 0, words
    assert {"mine.npz", "figure.png", "report.html", "found.npz"} <= {path.name for path in folder.iterdir()}
    assert ubic.Discovery.load("found.npz")["u"].verdict == "clear"


def test_examples_of_the_help_are_understood():
    assert len(help_examples()) >= 6
    for line in help_examples():
        command = re.split(r"\s{2,}|\s(?=only\b)", line)[0].partition(" > ")[0]
        assert cli.make_parser().parse_args(shlex.split(command)[1:]).command in cli.COMMANDS


@pytest.mark.parametrize("arguments, code", [
    (["--version"], 0), (["--help"], 0), (["paper", "--help"], 0), ([], 2), (["find"], 2), (["discover"], 2),
    (["discover", "burgers", "--mode", "best"], 2), (["data", "heat"], 2), (["paper", "heat"], 2),
    (["discover", "burgers", "--tau0", "-1"], 2), (["discover", "burgers", "--seed", "one"], 2),
])
def test_exit_codes(arguments, code):
    done = run(*arguments)
    assert done.returncode == code and "Traceback" not in done.stderr
    if arguments == ["--version"]: assert done.stdout == f"ubic {ubic.__version__}\n"


@pytest.mark.parametrize("arguments", [
    ["discover", "nowhere.nc"], ["discover", "text.nc"], ["discover", "text.npz"], ["discover", "folder"],
    ["data", "heat"], ["paper", "heat"],
    ["discover", "burgers", "--target", "v"], ["discover", "burgers", "--noise", "nan"],
    ["discover", "burgers", "--recipe", "heat"], ["discover", "burgers", "--power", "-1"],
    ["discover", "burgers", "--max-size", "0"], ["discover", "burgers", "--tau0", "P200"],
    ["discover", "bare.npy", "--dims", "x"], ["discover", "bare.npy", "--dims", "x", "t", "--rename", "u"],
    ["data", "burgers", "--out", "text.nc/x.npz"], ["data", "burgers", "--out", "burgers.xls"],
])
def test_mistakes_end_in_a_sentence(arguments, folder, capsys):
    Path("text.nc").write_text("hello")
    Path("text.npz").write_text("hello")
    Path("folder").mkdir()
    np.save("bare.npy", np.random.default_rng(0).standard_normal((40, 30)))
    assert main(arguments) == 2
    error = last_line(capsys)
    assert error.startswith("ubic: ") and error.endswith((".", ")")) and "Errno" not in error


TOGETHER = "keep coordinates and data in one .npz or .nc file"
BY_HAND = r"give them in Python, with ubic\.as_field\(u, x=\.\.\., t=\.\.\.\)\.$"
ALONE = "`--recipe` stands for all settings; leave out"


@pytest.mark.parametrize("arguments, start", [
    ("discover nowhere.nc", "`SOURCE` is 'nowhere.nc'"),
    ("discover text.npz", "`SOURCE` 'text.npz' cannot be read"),
    ("data heat", "`NAME` is 'heat'"),
    ("paper heat", "`NAME` is 'heat'"),
    ("discover burgers --target v", "`--target` must be one of u"),
    ("discover burgers --noise nan", "`--noise` is nan"),
    ("discover burgers --noise 5 --seed -1", r"`--seed` is -1; give a whole number of at least 0\.$"),
    ("discover burgers --seed -1", r"`--seed` is -1; give a whole number of at least 0\.$"),
    ("discover burgers --known w", "`--known` has 'w'"),
    ("discover burgers --derivative-order -1", "`--derivative-order` is -1"),
    ("discover burgers --power -1", "`--power` is -1"),
    ("discover burgers --max-size 0", "`--max-size` is 0"),
    ("discover burgers --time-limit 0", "`--time-limit` is 0.0; give a positive, finite number"),
    ("discover burgers --recipe burgers --time-limit 5", f"{ALONE} `--time-limit`, or the recipe"),
    ("discover burgers --tau0 P200", "`--tau0` must be a number or a percentile"),
    ("discover burgers --tau0 0", "`--tau0` must be positive"),
    ("discover burgers --recipe heat", "`--recipe` must be one of"),
    ("discover burgers --recipe burgers --known u", f"{ALONE} `--known`"),
    ("discover burgers --recipe burgers --max-size 1 --power 7 --mode paper --denoise ksvd",
     f"{ALONE} `--denoise`, `--power`, `--max-size`, `--mode`, or the recipe."),
    ("discover bare.npy --dims x", f"`SOURCE` has arrays .* {TOGETHER}"),
    ("discover bare.npy --dims x t",
     f"`x` has no coordinate values; {TOGETHER}, under names such as x, t and u, or {BY_HAND}"),
    ("discover bare.npy --dims x x", r"`--dims` is \('x', 'x'\), which names an axis twice"),
    ("discover bare.npy --dims x t --rename u", "`--rename` has 'u'"),
    ("discover bare.npy --dims x t --rename v=u", "`--rename` mentions"),
    ("discover bare.npz --rename u=", "`--rename` has 'u='; write it as old=new."),
    ("discover bare.npz --rename u=w u=v", "`--rename` has 'u=w u=v', where a name of the file is there twice"),
    ("discover burgers --variables v --chunks", "`--variables`, `--chunks` are for files, and `SOURCE` is 'burgers'"),
    ("report burgers x.html --rename u=v", "`--rename` is for files"),
    ("discover bare.npz --variables w", "`--variables` mentions"),
    ("discover bare.npz --variables x", r"`--variables` is \['x'\], which names no unknown"),
    ("discover bare.npz --chunks",
     "`--chunks` is for .nc and .zarr, and .npz files are read whole; save the field"),
    ("discover burgers --report x.docx", "`--report` is 'x.docx'"),
    ("discover burgers --figure x.docx", "`--figure` is 'x.docx'"),
    ("discover burgers --save x.json", "`--save` is 'x.json'"),
    ("report burgers x.txt", "`OUT` is 'x.txt'"),
    ("data burgers --out bare.npz/x.npz", "`--out` is 'bare.npz/x.npz', but 'bare.npz' is no folder"),
    ("data burgers --out x.xls", "`--out` is 'x.xls'"),
])
def test_mistakes_are_named_as_they_were_typed(arguments, start, folder, capsys):
    Path("text.npz").write_text("hello")
    values = np.random.default_rng(0).standard_normal((40, 30))
    np.save("bare.npy", values)
    np.savez("bare.npz", u=values, x=np.arange(40.0), t=np.arange(30.0))
    assert main(arguments.split()) == 2
    sentence = last_line(capsys)
    assert re.match(f"ubic: ({start})", sentence), sentence
    words = "path|tau0|power|target|known|recipe|percent|seed|dims|variables"
    assert not re.search(rf"`[a-z]\w*_\w*`|`({words})`|solver=|dims=|None", sentence), sentence


def test_every_option_has_its_own_name():
    "What Python calls an argument is known to be an option, for every option that becomes an argument."
    [commands] = cli.make_parser()._subparsers._group_actions
    actions = [action for command in commands.choices.values() for action in command._actions]
    options = {action.dest for action in actions if action.option_strings}
    own = {"help", "noise", "figure", "report", "save", "out", "json", "title", "why", "without_denoising"}
    here = {"percent", "with_", "path", "field", "data"} # words of Python that are no option of the same name
    assert set(OPTIONS) - here | own == options
    assert all(OPTIONS[name] == "--" + name.replace("_", "-") for name in set(OPTIONS) - here)


@pytest.mark.parametrize("command", ["discover burgers", "report burgers x.html"])
def test_time_limit_reaches_the_search(command, folder, monkeypatch):
    def stop(*_, **settings): raise ValueError(settings["time_limit"])
    monkeypatch.setattr("ubic.road.pipeline.discover", stop)
    def limit(*options): return cli.find(cli.make_parser().parse_args([*command.split(), *options]))
    with pytest.raises(ValueError, match="^7.5$"): limit("--time-limit", "7.5")
    with pytest.raises(ValueError, match="^None$"): limit()


def test_names_in_the_data_are_no_options(folder, capsys):
    field = ubic.datasets.burgers().isel(x=slice(0, 256, 4), t=slice(0, 101, 4))
    for name in ("power", "mode", "percent", "seed"):
        values = field.u.values.copy()
        values[3, 4] = np.nan
        np.savez("hole.npz", **{name: values}, x=field.x.values, t=field.t.values)
        assert main(["discover", "hole.npz"]) == 2 and last_line(capsys).startswith(f"ubic: `{name}` has 1 of ")
        np.savez("whole.npz", **{name: field.u.values}, x=field.x.values, t=field.t.values)
        assert main(["discover", "whole.npz", "--known", "w"]) == 2
        assert last_line(capsys).startswith("ubic: `--known` has 'w'")
        assert main(["discover", "whole.npz", "--power", "-1"]) == 2
        assert last_line(capsys).startswith("ubic: `--power` is -1")
        Path("table.csv").write_text(f"x,t,{name}\n0,0,1\n1,0,oops\n0,1,2\n1,1,3\n")
        assert main(["discover", "table.csv"]) == 2
        said = last_line(capsys)
        assert said.startswith(f"ubic: `{name}` has 1 cell"), said
        assert said.endswith("leave the column out with --variables NAME."), said


@pytest.mark.parametrize("names, start", [
    (dict(u="u", x="lon", t="t"), r"`SOURCE` has axes \['lon'\]; rename them with --rename OLD=NEW so that only"),
    (dict(u="u", x="y", t="t"),
     r"`SOURCE` has axes \('y', 't'\); .* together with t; name them with --rename OLD=NEW\."),
    (dict(u="u_1", x="x", t="t"),
     r"`SOURCE` has unknowns named \['u_1'\]; rename them with --rename OLD=NEW to letters"),
])
def test_names_of_a_file_are_mended_by_rename(names, start, folder, capsys):
    field = ubic.datasets.burgers().isel(x=slice(0, 40), t=slice(0, 30))
    renamed = field.rename({old: new for old, new in names.items() if old != new})
    renamed.drop_attrs().to_netcdf("other.nc", engine="h5netcdf")
    assert main(["discover", "other.nc"]) == 2
    sentence = last_line(capsys)
    assert re.match(f"ubic: {start}", sentence) and "`ds`" not in sentence and "`field`" not in sentence, sentence


def test_variables_to_read_are_named(folder, capsys):
    field = ubic.datasets.burgers().isel(x=slice(0, 40), t=slice(0, 30)).drop_attrs()
    field.assign(dt=0.1, v=2*field.u).to_netcdf("more.nc", engine="h5netcdf")
    assert main(["discover", "more.nc"]) == 2
    sentence = last_line(capsys)
    assert sentence.startswith("ubic: `dt` has axes ()"), sentence
    assert sentence.endswith("leave it out with --variables u v."), sentence


def test_advice_names_options(capsys):
    assert main("discover burgers --noise 30 --tau0 0.4".split()) == 0
    said = capsys.readouterr()
    assert "`tau0`" not in said.out + said.err


def test_bugs_end_in_1():
    broken = (
        "import sys, ubic.pipeline, ubic.cli; ubic.pipeline.discover = lambda *_, **__: {}['missing']; "
        "sys.exit(ubic.cli.main(['discover', 'burgers']))"
    )
    done = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "Traceback" in done.stderr


def test_exit_codes_are_those_of_the_help():
    said = cli.EXAMPLES[cli.EXAMPLES.index("exit code:"):]
    assert re.findall(r"\b\d+\b", said) == ["0", "2", "130", "1"]


@pytest.mark.parametrize("arguments", [
    ["discover", "burgers", "--report", "x.docx"],
    ["discover", "burgers", "--report", "a.svg", "--figure", "a.svg"],
    ["discover", "burgers", "--figure", "x.docx"],
    ["report", "burgers", "x.txt"],
    ["discover", "burgers", "--save", "x.json"],
    ["discover", "burgers", "--save", "x.npz", "--chunks"],
])
def test_places_to_write_are_checked_first(arguments, folder, capsys, monkeypatch):
    monkeypatch.setattr("ubic.road.pipeline.discover", lambda *_, **__: pytest.fail("the work began"))
    assert main(arguments) == 2 and last_line(capsys).startswith("ubic: `")


@pytest.mark.parametrize("arguments, start", [
    ("discover burgers --figure here.png", "`--figure` is 'here.png', which is a folder"),
    ("discover burgers --save here.npz", "`--save` is 'here.npz', which is a folder"),
    ("discover burgers --report here.html", "`--report` is 'here.html', which is a folder"),
    ("discover burgers --figure here", "`--figure` is 'here', which is a folder"),
    ("report burgers here.html", "`OUT` is 'here.html', which is a folder"),
    ("discover burgers --figure file/sub/f.png", "`--figure` is 'file/sub/f.png', but 'file' is no folder"),
    ("discover burgers --save file/f.npz", "`--save` is 'file/f.npz', but 'file' is no folder"),
])
def test_folders_are_no_files(arguments, start, folder, capsys, monkeypatch):
    for name in ("here", "here.png", "here.npz", "here.html"): Path(name).mkdir()
    Path("file").touch()
    monkeypatch.setattr("ubic.road.pipeline.discover", lambda *_, **__: pytest.fail("the work began"))
    assert main(arguments.split()) == 2
    assert (sentence := last_line(capsys)).startswith(f"ubic: {start}"), sentence


def test_folders_are_made_when_there_is_something_to_write(folder, capsys):
    def code(command): return main(command.split())
    quick, places = "--noise 10 --max-size 3 --derivative-order 2", "--figure new/sub/f.png --save other/found.npz"
    assert code(f"discover nofile.csv {places}") == 2 and not list(folder.iterdir())
    assert code("data burgers --out mine.npz") == 0
    assert code(f"discover mine.npz {quick} {places} --report third/page.html") == 0
    assert code(f"report mine.npz fourth/page.html {quick}") == code("data burgers --out fifth/sub/x.npz") == 0
    written = ["new/sub/f.png", "other/found.npz", "third/page.html", "fourth/page.html", "fifth/sub/x.npz"]
    assert all(Path(name).is_file() for name in written)


@pytest.mark.parametrize("arguments, start", [
    (["discover", "burgers", "--report", ""], "`--report` is empty"),
    (["discover", "burgers", "--figure", ""], "`--figure` is empty"),
    (["discover", "burgers", "--save", ""], "`--save` is empty"),
    (["report", "burgers", ""], "`OUT` is empty"),
    (["data", "burgers", "--out", ""], "`--out` is empty"),
    (["discover", ""], "`SOURCE` is empty"),
])
def test_names_that_are_empty(arguments, start, folder, capsys):
    assert main(arguments) == 2
    assert last_line(capsys) == f"ubic: {start}; give the name of a file." and not list(folder.iterdir())


@pytest.mark.parametrize("arguments, start", [
    ("discover burgers --report a.pdf --figure ./a.pdf", "`--report` and `--figure` are both './a.pdf'; give each"),
    ("discover mine.npz --save mine.npz", "`SOURCE` and `--save` are both 'mine.npz'"),
    ("report mine.html mine.html", "`SOURCE` and `OUT` are both"),
])
def test_no_file_is_written_over_another(arguments, start, folder, capsys, monkeypatch):
    monkeypatch.setattr("ubic.road.pipeline.discover", lambda *_, **__: pytest.fail("the work began"))
    assert main(arguments.split()) == 2 and last_line(capsys).startswith(f"ubic: {start}")


@pytest.mark.parametrize("source, meant", [
    ("Burgers", "'burgers'"), ("KS", "'ks'"), ("fild.csv", "'field.csv'"), ("Field.csv", "'field.csv'"),
    ("heat", None), ("no/fild.csv", None),
])
def test_near_names_are_suggested(source, meant, folder, capsys):
    Path("field.csv").touch()
    assert main(["discover", source]) == 2
    assert last_line(capsys).endswith("gray_scott." if meant is None else f"gray_scott; did you mean {meant}?")


def test_tables_are_mended_by_options(folder, capsys):
    table = ubic.datasets.burgers().isel(x=slice(0, 40), t=slice(0, 30)).u.to_dataframe().reset_index()
    table.iloc[[*range(len(table)), 0]].to_csv("twice.csv", index=False)
    table.rename(columns={"x": "position", "t": "time"}).to_csv("names.csv", index=False)
    Path("folder.csv").mkdir()
    for name, said in (
        ("twice", r"has 1 row\(s\) .* name it with --rename column=y\."),
        ("names", r"has the columns \['position', 'time', 'u'\]; .* name them with --rename column=x\."),
        ("folder", "is 'folder.csv', which is a folder; give the name of a file."),
    ):
        assert main(["discover", f"{name}.csv"]) == 2
        assert re.fullmatch(f"ubic: `SOURCE` {said}", sentence := last_line(capsys)), sentence


@pytest.mark.parametrize("problem, code", [(KeyboardInterrupt, 130), (MemoryError, 2)])
def test_interruption_and_memory(problem, code, monkeypatch, capsys):
    def fail(*_, **__): raise problem
    monkeypatch.setattr("ubic.road.pipeline.discover", fail)
    assert main(["discover", "burgers"]) == code and last_line(capsys).startswith("ubic: ")


def test_bugs_keep_their_traceback(monkeypatch):
    monkeypatch.setattr("ubic.road.pipeline.discover", lambda *_, **__: {}["missing"])
    with pytest.raises(KeyError): main(["discover", "burgers"])


def test_json_is_strict_and_complete(capsys):
    assert main(["discover", "burgers", "--noise", "30", "--json"]) == 0
    found = strict(capsys.readouterr().out)["u"]
    assert set(found["terms"]) == {"u_xx", "u*u_x"} and found["size"] == 2
    assert found["verdict"] == "clear" and found["error_percent"] < 1
    assert len(found["path"]["bic"]) == len(found["path"]["terms"]) == len(found["path"]["sizes"])
    assert found["traces"] == [] and found["why"]["terms"] == found["terms"]
    assert min(found["why"]["lost"]) > 1000 and max(found["limits"]["largest_share"]) < 0.06
    assert set(found["limits"]["terms"]).isdisjoint(found["terms"])
    [step] = found["growth"]
    assert step["enough"] and step["unit"] == "noise" and "seconds" not in step
    assert main(["data", "kdv", "--json"]) == 0 and strict(capsys.readouterr().out)["sizes"] == {"x": 512, "t": 501}


def test_reasons_are_printed_when_asked_for(capsys):
    def said(*options):
        assert main(["discover", "burgers", "--noise", "30", *options]) == 0
        return capsys.readouterr().out
    assert "evidence lost without it" not in said()
    told = said("--why")
    assert "evidence lost without it" in told and "left out of u_t" in told
    assert "Not known: why each term is in was not measured" in said("--why", "--mode", "paper")


def test_families_that_joined_are_printed(monkeypatch, capsys):
    found = ubic.discover(ubic.add_noise(ubic.datasets.burgers(), 30, seed=0), terms=["u_xx", "u*u_x"])
    [step] = found.growth["u"]
    found.growth["u"] = ubic.growth.Growth([step, step])
    monkeypatch.setattr("ubic.road.pipeline.discover", lambda *_, **__: found)
    assert main(["discover", "burgers"]) == 0
    assert capsys.readouterr().out.count("candidates given") == 2


@pytest.mark.parametrize("options, asked", [
    ("", (None, None, None, None)),
    ("--power 2 --no-constant --no-fluxes", (2, False, False, None)),
    ("--constant --fluxes", (None, True, True, None)),
    ("--terms u_xx u*u_x", (None, None, None, ["u_xx", "u*u_x"])),
])
def test_candidates_reach_the_search(options, asked, monkeypatch):
    def stop(*_, **settings): raise ValueError([settings[name] for name in ("power", "constant", "fluxes", "terms")])
    monkeypatch.setattr("ubic.road.pipeline.discover", stop)
    arguments = cli.make_parser().parse_args(["discover", "burgers", *options.split()])
    with pytest.raises(ValueError) as caught: cli.find(arguments)
    assert caught.value.args == (list(asked),)


def test_seed_of_the_noise(folder, capsys):
    "The option is the argument `seed` of `add_noise`, and 0 when it is left out."
    def coefficients(*options):
        command = "discover burgers --noise 30 --derivative-order 2 --max-size 2 --json"
        assert main([*command.split(), *options]) == 0
        return strict(capsys.readouterr().out)["u"]["coef"]
    typed = {seed: coefficients("--seed", str(seed)) for seed in (0, 1, 2)}
    for seed, coef in typed.items():
        field = ubic.add_noise(ubic.datasets.burgers(), 30, seed=seed)
        assert coef == pytest.approx(list(ubic.discover(field, derivative_order=2, max_size=2)["u"].coef), rel=1e-12)
    assert typed[0] == coefficients() and typed[0] != typed[1] != typed[2] != typed[0]


def test_json_has_room_for_the_validation(folder, capsys, monkeypatch):
    field = ubic.datasets.burgers().isel(x=slice(0, 40), t=slice(0, 30))
    np.savez("taken.npz", validation=field.u.values, x=field.x.values, t=field.t.values)
    def search(*_, **__): raise ValueError("the work began")
    monkeypatch.setattr("ubic.road.pipeline.discover", search)
    assert main(["discover", "taken.npz", "--json", "--validate", "simulate"]) == 2
    assert last_line(capsys).startswith("ubic: `--json` keeps what `--validate` finds under the name validation")
    for free in ("--json", "--validate simulate", "--json --validate simulate --rename validation=v"):
        assert main(["discover", "taken.npz", *free.split()]) == 2 and last_line(capsys) == "ubic: the work began"


def test_json_of_the_paper(capsys):
    assert main(["paper", "kdv", "--json"]) == 0
    ours = strict(capsys.readouterr().out)["kdv"]["u"]
    assert ours["size"] == {"paper": 2, "ours": 2, "relative difference": 0}
    assert ours["%CE"]["relative difference"] < 1e-3


def test_paper_prints_every_unknown(monkeypatch, capsys):
    from ubic import recipes
    table = recipes.pd.DataFrame({"paper": [1.0], "ours": [2.0]}, index=["size"])
    monkeypatch.setattr(recipes, "compare", lambda name, denoising, target: table)
    assert main(["paper", "all", "--without-denoising"]) == 0
    printed = capsys.readouterr().out
    experiments = [(name, target) for name, recipe in recipes.recipes.items() for target in recipe.targets]
    assert all(f"{name}, {target}, without denoising" in printed for name, target in experiments)


def test_numbers_that_json_does_not_know():
    wild = {"a": np.array([1.0, np.nan]), 2: (np.inf, -np.inf)}
    wild |= {"b": np.float64("nan"), "c": np.int64(3), "d": True, "e": None}
    plain = {"a": [1.0, None], "2": [None, None], "b": None, "c": 3, "d": True, "e": None}
    assert cli.as_plain(wild) == plain


def test_files_with_other_names(folder, capsys):
    field = ubic.add_noise(ubic.datasets.burgers(), 10, seed=0)
    np.savez("other.npz", field=field.u.values, where=field.x.values, time=field.t.values)
    assert main(["discover", "other.npz", "--rename", "field=u", "where=x", "--json"]) == 0
    assert strict(capsys.readouterr().out)["u"]["terms"] == ["u*u_x", "u_xx"]


def test_report_tells_how_it_was_made(folder, capsys):
    assert main(["report", "burgers", "out.html", "--noise", "30", "--title", "Mine & yours"]) == 0
    page = Path("out.html").read_text(encoding="utf-8")
    assert capsys.readouterr().out == "out.html\n" and "<h1>Mine &amp; yours</h1>" in page
    assert "ubic report burgers out.html --noise 30 --title &#x27;Mine &amp; yours&#x27;" in page


def test_terminal_without_greek_letters():
    done = run("data", "kdv", PYTHONIOENCODING="ascii")
    assert done.returncode == 0 and "Korteweg?de Vries" in done.stdout


def test_reader_that_went_away():
    command = [sys.executable, "-m", "ubic.cli", "data", "kdv"]
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    done.stdout.close()
    assert done.stderr.read() == "" and done.wait(timeout=60) == 0


@pytest.mark.skipif(os.name == "nt", reason="there is another shell")
@pytest.mark.parametrize("place, code, said", [
    (">&-", 0, ""),
    ("2>&-", 0, ""),
    (">/dev/full", 2, "ubic: the output cannot be written (No space left on device); "
     "print it to another place, or make room there.\n"),
])
def test_outputs_that_take_nothing(place, code, said):
    if "full" in place and not os.path.exists("/dev/full"): pytest.skip("this system has no /dev/full")
    command = f"{shlex.quote(sys.executable)} -m ubic.cli data kdv {place}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (code, said)
    assert done.stdout.startswith("Korteweg" if place == "2>&-" else "")


def test_a_reader_that_leaves_early_costs_no_file(tmp_path):
    kinds = {"--save": "npz", "--figure": "png", "--report": "html"}
    places = {option: tmp_path/f"found.{kind}" for option, kind in kinds.items()}
    command = [sys.executable, "-m", "ubic.cli", "discover", "burgers", "--noise", "30"]
    command += [str(part) for place in places.items() for part in place]
    done = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    done.stdout.close()
    assert "Traceback" not in done.stderr.read() and done.wait(timeout=300) == 0
    assert all(place.stat().st_size > 0 for place in places.values())


def test_command_line_broken_file(tmp_path, capsys):
    (tmp_path/"short.npz").write_bytes(b"PK")
    assert main(["discover", str(tmp_path/"short.npz")]) == 2 and "cannot be read" in capsys.readouterr().err


def run_program(*arguments):
    program = "import sys; from ubic.cli import main; sys.exit(main())"
    return subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=300)


def test_command_line_discovers_and_writes(tmp_path):
    figure, page = tmp_path/"a"/"burgers.png", tmp_path/"burgers.html"
    places = "--figure", str(figure), "--report", str(page)
    done = run_program("discover", "burgers", "--noise", "30", "--seed", "0", *places)
    assert done.returncode == 0 and "u_xx" in done.stdout and "±" in done.stdout
    assert figure.stat().st_size > 10_000 and page.read_text().startswith("<!doctype html>")


def test_command_line_json_and_files(tmp_path, capsys):
    assert main(["data", "burgers", "--out", str(tmp_path/"mine.npz")]) == 0
    capsys.readouterr()
    assert main(["discover", str(tmp_path/"mine.npz"), "--noise", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["u"]["terms"] == ["u*u_x", "u_xx"]


@pytest.mark.parametrize("arguments", [
    ["discover", "nowhere.nc"], ["data", "heat"], ["discover", "burgers", "--target", "v"],
    ["discover", "burgers", "--report", "x.txt"], ["discover", "burgers", "--recipe", "heat"],
])
def test_command_line_mistakes_end_in_a_sentence(arguments, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert error.startswith("ubic: ") and error.endswith(".")


def test_command_line_help():
    assert "discover" in run_program("--help").stdout and run_program().returncode == 2
