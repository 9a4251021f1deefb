"""Trouble from outside.

Processes killed while they write, full disks, folders that cannot be written, four processes at once, Ctrl-C at any
moment. This file is also the program of the processes that suffer it: `python test_faults.py NAME …` runs the function
of that name. They divide by forking, so that many trials cost one import.
"""
import ast
import asyncio
import functools
import io
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
import warnings
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are divided by forking")


# --- whoever writes a file ----------------------------------------------------------------------------------------

class Writer:
    "Something that keeps one of two versions under the same names, and reads it back."
    cache = False # whether the file only saves time
    def __init__(self, names, write, read): self.names, self.write, self.read = names.split(), write, read
    def seen(self, folder): # what is read, as text; anything damaged is an error
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return repr(self.read(folder))


class Cache(Writer):
    "Something that is made and kept, or read if it was kept before."
    cache = True
    def __init__(self, make):
        def write(folder, version):
            self.clear(folder)
            make(folder)
        super().__init__("", write, make)
    def clear(self, folder):
        for path in folder.glob("[!.]*"): path.unlink()


def numbers(array): return np.asarray(array).tobytes().hex()


def a_field():
    import ubic
    x, t = np.linspace(0, 6, 60), np.linspace(0, 2, 40)
    return ubic.as_field(np.sin(x[:, None] - t) + 0.3*np.cos(2*x[:, None] + t), x=x, t=t)


def files():
    "Everything that `save_field` writes."
    import ubic
    versions = [a_field(), 2*a_field()]
    def field(name, chunks=None):
        def write(folder, version):
            one = versions[version]
            ubic.save_field(one if chunks is None else one.chunk(chunks), folder/name)
        return Writer(name, write, lambda folder: numbers(ubic.load(folder/name).u))
    return {
        "npz": field("a.npz"),
        "nc": field("a.nc"),
        "zarr": field("a.zarr"),
        "nc in chunks": field("b.nc", {"t": 10}),
        "zarr in chunks": field("b.zarr", {"t": 10}),
    }


def pages():
    "Reports, figures and tables; what is in them is made up, to save time."
    import pandas as pd
    from matplotlib.figure import Figure
    from ubic import cli, recipes, report
    report.to_html = lambda found, *_: f"<p>{found}</p>"*3000
    report.print_pdf = str.encode
    report.find_browser = lambda: "a browser"
    class Drawn:
        def __init__(self, version): self.version = version
        def plot(self):
            axes = Figure(dpi=50).subplots(2)
            axes[0].plot(range(10 + self.version))
            return axes
    def whole(*names): return lambda folder: [(folder/name).read_bytes() for name in names]
    def draw(folder, version):
        with redirect_stderr(io.StringIO()): cli.draw(Drawn(version), folder/"figure.png")
    def results(folder, version):
        recipes.results = lambda name: pd.DataFrame({"a": np.arange(9.0) + version})
        recipes.snapshot = lambda name: {"u": np.random.default_rng(version).random(99)}
        recipes.save_results("ks", folder)
    def shapes(folder): return pd.read_csv(folder/"ks.csv").shape, np.load(folder/"ks.npz")["u"].shape
    def page(name): return Writer(name, lambda folder, version: report.write_report(version, folder/name), whole(name))
    return {
        "html": page("page.html"),
        "pdf": page("page.pdf"),
        "figure": Writer("figure.png", draw, lambda folder: len(whole("figure.png")(folder)[0])),
        "table": Writer("ks.csv ks.npz", results, shapes),
    }


def caches():
    "Datasets and chains; the work is done by stand-ins."
    from ubic import datasets, sampling
    made = datasets.burgers(cache=False)
    datasets.simulate = lambda *_, **__: made
    sampling.inference_data = lambda kept, like: kept
    def here(make):
        def run(folder):
            os.environ["UBIC_CACHE"] = str(folder)
            return numbers(make(folder))
        return Cache(run)
    def frames(folder):
        def computed(): return (np.arange(600.0) + j for j in range(20))
        return datasets.cached_frames(folder/"toy.npy", computed, (20, 600), float, True)
    system = __import__("ubic").LinearSystem(np.random.default_rng(0).random((50, 3)), np.arange(50.0))
    like = sampling.likelihood(system)
    def chain(seed): return {"coef": np.random.default_rng(seed).random((900, 3))}
    def chains(folder): return [one["coef"] for one in sampling.sampled("toy", like, {}, chain=chain, chains=3)]
    return {"dataset": here(lambda folder: datasets.burgers().u), "frames": here(frames), "chains": here(chains)}


def states():
    "The state of a training."
    from ubic import networks
    problem = networks.pinn({"u_xx": 0.1}, a_field(), layers=(4, 4), epochs=1, iterations=1).problem
    def training(): return networks.Training(problem, 0, 2, "cpu")
    def write(folder, version):
        one = training()
        one.rows = [[version, 1.0]]
        one.save(folder/"state.pt", "fingerprint")
    def read(folder):
        one = training()
        one.resume(folder/"state.pt", "fingerprint")
        return one.rows, numbers(one.theta.detach())
    checkpoint = Writer("state.pt", write, read)
    checkpoint.cache = True
    return {"checkpoint": checkpoint}


# --- in processes of their own ------------------------------------------------------------------------------------

def in_a_fork(work, *arguments):
    """Run a function in a copy of this process.

    Told are its exit status, minus the signal that killed it, and its result as text. Threads do not survive a fork, so
    all work is done this way.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with open(reading) as pipe: text = pipe.read()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text
    try: os.write(writing, str(work(*arguments)).encode())
    except BaseException:
        traceback.print_exc()
        os._exit(99)
    os._exit(0)


def well(work, *arguments):
    "The result of a function that is run in a copy of this process, as text."
    status, text = in_a_fork(work, *arguments)
    assert status == 0, f"exit status {status}"
    return text


def tell(name, trial, work, *arguments):
    "Try something, and tell the test how it went."
    try: work(*arguments)
    except BaseException: found = traceback.format_exc()
    else: found = "fine"
    print(json.dumps([name, trial, found]), flush=True)


def run(function, *arguments, before=(), **environment):
    "What a function of this file tells when it is run in a process of its own: name → trial → how it went."
    settings = {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"} | environment
    command = [*before, sys.executable, __file__, function, *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    found = {}
    for name, trial, how in map(json.loads, done.stdout.splitlines()):
        found.setdefault(name, {})[trial] = how if how == "fine" else how + done.stderr
    return found


# --- killed while writing -----------------------------------------------------------------------------------------

EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir")


def kill_at_event(number, folder):
    "End this process without notice before it opens, makes, renames or removes something in a folder, the n-th time."
    count = 0
    def hook(event, arguments):
        nonlocal count
        if event not in EVENTS or not isinstance(arguments[0], (str, Path)): return
        if Path(arguments[0]).parent == folder:
            count += 1
            if count == number: os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)


def kill_at_size(size, folder):
    "End this process in the middle of a write that makes a file larger than this."
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def kill_while(writer, folder, arm, point, expected):
    "Whether a writer was killed; what it leaves is whole, and the next one cleans up."
    def write():
        arm(point, folder)
        writer.write(folder, 1)
    status, _ = in_a_fork(write)
    assert status in (0, -signal.SIGKILL, -signal.SIGXFSZ), status
    assert writer.cache or {path.name for path in folder.glob("[!.]*")} <= set(writer.names)
    seen = well(writer.seen, folder)
    one_file_too_large = arm is kill_at_size and len(writer.names) < 2
    assert seen in (expected[:1] if one_file_too_large else expected)
    well(writer.write, folder, 0)
    assert well(writer.seen, folder) == expected[0]
    assert not list(folder.glob(".*")), "leftovers"
    return status != 0


def kill_at_every_step(writer, folder):
    expected, points = [], 0
    for version in (1, 0):
        well(writer.write, folder, version)
        expected.insert(0, well(writer.seen, folder))
    while kill_while(writer, folder, kill_at_event, points + 1, expected): points += 1
    assert points >= 3
    for size in (1, 100): assert kill_while(writer, folder, kill_at_size, size, expected)


def test_leftovers_of_others(tmp_path):
    """Of a process that is still there, or on another computer, they stay.

    Of one that is gone, or after a day, they go; other files are nobody's business.
    """
    from ubic.files import write_atomically
    from ubic.ground.storage import THIS_HOST
    names = (
        f"{THIS_HOST}-{os.getpid()}-a",
        "ffffffff-1-b",
        f"{THIS_HOST}-999999999-c",
        "ffffffff-1-d",
        "notes",
    )
    mine, theirs, gone, old, other = (tmp_path/f".ubic-{name}.part" for name in names)
    for path in (mine, theirs, gone, other): path.write_text("half")
    old.mkdir() # a store
    (old/"chunk").write_text("half")
    for path in (old, old/"chunk", other): os.utime(path, (time.time() - 2*86400,)*2)
    write_atomically(tmp_path/"a.txt", lambda file: file.write(b"whole"))
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", mine.name, theirs.name, other.name}


def test_no_file_of_a_store_comes_late(tmp_path, monkeypatch):
    """Zarr writes several files at once and does not wait for the rest when one of them fails.

    They must not bring back a folder that was cleared away.
    """
    storage = pytest.importorskip("zarr.storage")
    import ubic
    whole, late = storage.LocalStore.set, []
    async def set_late(store, key, value, *rest):
        if key == ".zgroup": raise OSError(28, "No space left on device")
        await asyncio.sleep(0.2)
        late.append(key)
        await whole(store, key, value, *rest)
    monkeypatch.setattr(storage.LocalStore, "set", set_late)
    for field in (a_field(), a_field().chunk({"t": 10})):
        with pytest.raises(OSError, match="cannot be written .No space left"): ubic.save_field(field, tmp_path/"a.zarr")
        assert late, "nothing was under way"
        late.clear()
        time.sleep(0.4)
        assert not late and not list(tmp_path.iterdir())


# --- where nothing can be written ---------------------------------------------------------------------------------

@contextmanager
def small_files(folder):
    "No file may grow beyond some bytes; the writer hears of it as of a full disk."
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, resource.RLIM_INFINITY))
    try: yield "File too large"
    finally: resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,)*2)


@contextmanager
def full_disk(folder):
    "No room is left on the small disk that holds the folder."
    ballast = folder.parent/"ballast"
    try:
        with open(ballast, "wb", buffering=0) as file:
            while True: file.write(bytes(4096))
    except OSError: yield "No space left on device"
    finally: ballast.unlink()


@contextmanager
def closed_folder(folder):
    "Nobody may write in the folder."
    folder.chmod(0o500)
    try: yield "Permission denied"
    finally: folder.chmod(0o700)


PLACES = {"small": small_files, "full": full_disk, "closed": closed_folder}


def try_to_write(writer, folder, place):
    "An error in one sentence, or for a cache the result and one warning; nothing left behind, the old file as it was."
    before, names = well(writer.seen, folder), sorted(path.name for path in folder.iterdir())
    def expected(reason):
        path = str(folder/writer.names[-1])
        return f"`path` is {path!r}, which cannot be written ({reason}); choose another place, or make room there."
    def write():
        if isinstance(writer, Cache): writer.clear(folder)
        with PLACES[place](folder) as reason, warnings.catch_warnings(record=True) as caught:
            try: result = writer.read(folder) if isinstance(writer, Cache) else writer.write(folder, 1)
            except OSError as error: assert str(error) == expected(reason)
            else: assert writer.cache
        if writer.cache:
            ours = [warning for warning in caught if warning.category.__module__.startswith("ubic.")]
            [said] = [str(warning.message) for warning in ours] # once
            assert "kept" in said and reason in said
        if isinstance(writer, Cache): assert repr(result) == before
    well(write)
    assert sorted(path.name for path in folder.iterdir()) == ([] if isinstance(writer, Cache) else names)
    assert well(writer.seen, folder) == before
    well(writer.write, folder, 0)


# --- all of this for all writers ----------------------------------------------------------------------------------

def suffer(group, root, *names):
    mount = ["mount", "-t", "tmpfs", "-o", "size=4M", "tmpfs", root]
    small_disk = subprocess.run(mount, capture_output=True).returncode == 0
    dask = __import__("dask")
    for name, writer in GROUPS[group][0]().items():
        if name not in names: continue
        folder = Path(root)/name
        folder.mkdir()
        with dask.config.set(scheduler="synchronous"): # once without threads, so that all is imported
            writer.write(folder, 0)
            writer.seen(folder)
        tell(name, "killed", kill_at_every_step, writer, folder)
        for place in PLACES:
            if place != "full" or small_disk: tell(name, place, try_to_write, writer, folder, place)


GROUPS = {
    "files": (files, ["npz", "nc in chunks", "zarr in chunks"]),
    "pages": (pages, ["html", "pdf", "figure", "table"]),
    "caches": (caches, ["dataset", "frames", "chains"]),
    "states": (states, ["checkpoint"]),
}


def as_a_user():
    "What to put before a command so that an administrator suffers like a user, but for a small disk of her own."
    if os.geteuid() != 0: return []
    before = ["unshare", "--mount", "setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    there = all(map(shutil.which, before[::2]))
    if not there or subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("an administrator may write anywhere")
    return before


@pytest.fixture(scope="module")
def suffered(tmp_path_factory):
    @functools.cache
    def of(group, *names):
        if group == "states": pytest.importorskip("torch")
        return run("suffer", group, tmp_path_factory.mktemp("suffered"), *names, before=as_a_user())
    return of


TRIALS = [(group, name) for group, (_, names) in GROUPS.items() for name in names]
SLOW_TRIALS = [pytest.param("files", name, marks=pytest.mark.slow) for name in ("nc", "zarr")]


@pytest.mark.parametrize("group, name", TRIALS + SLOW_TRIALS)
def test_nothing_is_lost_or_half_written(group, name, suffered):
    names = GROUPS[group][1]
    found = suffered(group, *(names if name in names else [name]))[name]
    small = "no small disk can be mounted here; a limit on the size of files has to stand for it"
    if "full" not in found: warnings.warn(small)
    assert found == dict.fromkeys(found, "fine")
    assert set(found) >= {"killed", "small", "closed"}


if __name__ == "__main__": globals()[sys.argv[1]](*sys.argv[2:])
