"""Run notebooks in full, slow cells included, and keep what they show.

A notebook that fails keeps its old contents. One whose code has not changed since its last full run, nor a module that
it imports, directly or through others, is skipped. What was run with which modules is kept in nbs/runs.json, so that a
run goes on where it was interrupted, in another copy of the project too.
"""
import argparse
import hashlib
import json
import os
import re
import sys
import tempfile
import threading
import time
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from nbdev.clean import nbdev_clean
from tqdm.auto import tqdm

import house

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "nbs" / "runs.json"
WORK = ROOT / "out"
# names that xarray and widgets draw anew each time
DRAWN = re.compile(r"(?<![A-Za-z0-9+/])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})(?![A-Za-z0-9+/=])")
PARSING = threading.Lock() # Python's parser is not made for several threads at once
NEVER_RUN = re.compile(r"^#\|\s*eval:\s*false", re.MULTILINE | re.IGNORECASE)


class Client(NotebookClient):
    "A notebook client that leaves out the cells marked never to run."

    async def async_execute_cell(self, cell, cell_index, **kwargs):
        if NEVER_RUN.search(cell.source): return cell
        return await super().async_execute_cell(cell, cell_index, **kwargs)


def find_notebooks(paths):
    "The notebooks among files and folders, without hidden and working folders."
    found = []
    for path in map(Path, paths):
        if not path.exists(): raise SystemExit(f"There is no notebook or folder {path}.")
        inside = sorted(path.rglob("*.ipynb")) if path.is_dir() else [path]
        for file in inside:
            hidden = any(part[0] in "._" for part in file.relative_to(path).parts)
            if not hidden: found.append(file.resolve())
    return found


def digest(*parts): return hashlib.sha256(b"".join(parts)).hexdigest()[:12]


def sources(notebook):
    "The text of the code cells of a notebook."
    return [cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]


def without_marks(file):
    "The code of a room without the lines that only tell which cells it was written from."
    lines = file.read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.strip() and not line.startswith("# %% ")).encode()


def package(code):
    "The state of the rooms that some code uses, directly or through others; the published numbers belong to theirs."
    with PARSING:
        used = house.behind(house.mentioned(code))
        files = [house.rooms()[room] for room in sorted(used)]
    parts = [without_marks(file) for file in files]
    if "ubic.paper.published" in used: parts.append((ROOT / "ubic" / "published.csv").read_bytes())
    return digest(*parts)


def fingerprint(notebook):
    "What decides the outputs of a notebook: its own code, and the rooms of the package that it uses."
    code = sources(notebook)
    return {"code": digest(*(source.encode() for source in code)), "package": package("\n".join(code))}


def wants_no_run(nb):
    "Whether the front matter of a notebook says `skip_exec: true`."
    first = nb.cells[0] if nb.cells else None
    if first is None or first.cell_type != "raw": return False
    return bool(re.search(r"^skip_exec:\s*true", first.source, re.MULTILINE))


def name_parts(nb, notebook):
    "The notebook with the same names for the parts of tables and controls in every run."
    known = {}
    def steady(found):
        fresh = known.setdefault(found[0], uuid.uuid5(uuid.NAMESPACE_URL, f"{notebook.name}#{len(known)}"))
        return str(fresh) if "-" in found[0] else fresh.hex
    return nbformat.from_dict(json.loads(DRAWN.sub(steady, json.dumps(nb))))


def replace_atomically(nb, notebook):
    "Clean an executed notebook beside the project's other results, then put it in its place."
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        fresh = Path(folder) / notebook.name
        nbformat.write(nb, fresh)
        nbdev_clean(fname=str(fresh))
        os.replace(fresh, notebook)


def run(notebook, cell_done):
    "Run one notebook; return its state, its seconds and what went wrong."
    start = time.perf_counter()
    try:
        before, used = notebook.read_bytes(), fingerprint(notebook)
        nb = nbformat.reads(before.decode("utf-8"), as_version=4)
        if not wants_no_run(nb):
            place = {"metadata": {"path": str(notebook.parent)}}
            quiet = ["--log-level=CRITICAL"]
            Client(nb, timeout=None, extra_arguments=quiet, resources=place, on_cell_complete=cell_done).execute()
            nb, _ = CoalesceStreamsPreprocessor(enabled=True)(nb, {})
            with PARSING: house.forget()
            if (notebook.read_bytes(), fingerprint(notebook)) != (before, used):
                raise RuntimeError("The notebook or the package was changed while it ran; run it again.")
            replace_atomically(name_parts(nb, notebook), notebook)
        return "ok", time.perf_counter() - start, ""
    except CellExecutionError as error: problem = str(error)
    except Exception: problem = traceback.format_exc()
    return "FAILED", time.perf_counter() - start, re.sub(r"\x1b\[[0-9;]*m", "", problem).strip()


def save_record(record):
    "Write the record of full runs in one step."
    fresh = RECORD.with_suffix(".new")
    fresh.write_text(json.dumps(record, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(fresh, RECORD)


def run_all(notebooks, jobs, record):
    "Run several notebooks side by side, the longest first; return the rows of the summary."
    rows = {}
    name = {notebook: os.path.relpath(notebook, ROOT) for notebook in notebooks}
    notebooks = sorted(notebooks, key=lambda notebook: -record.get(name[notebook], {}).get("seconds", 1e9))
    pool = ThreadPoolExecutor(jobs) # not as a context: that would wait for the notebooks after an interrupt
    with tqdm(total=None, unit=" cells", disable=None, leave=False) as bar:
        waiting = {pool.submit(run, notebook, lambda **_: bar.update()): notebook for notebook in notebooks}
        for count, done in enumerate(as_completed(waiting), 1):
            notebook, (state, seconds, problem) = waiting[done], done.result()
            rows[name[notebook]] = state, seconds, problem
            bar.write(f"[{count}/{len(notebooks)}] {state:6} {seconds:7.1f} s  {name[notebook]}")
            sys.stdout.flush()
            if state != "ok": continue
            today = time.strftime("%Y-%m-%d")
            record[name[notebook]] = {**fingerprint(notebook), "date": today, "seconds": round(seconds, 1)}
            save_record(record)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("paths", nargs="*", default=[ROOT / "nbs"], help="notebooks or folders (all of nbs)")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time (2)")
    parser.add_argument("--force", action="store_true", help="also run what has not changed")
    args = parser.parse_args()
    notebooks = find_notebooks(args.paths)
    os.chdir(ROOT)
    os.environ["TQDM_DISABLE"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // args.jobs)))
    WORK.mkdir(exist_ok=True)
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    same = lambda notebook: fingerprint(notebook).items() <= record.get(os.path.relpath(notebook, ROOT), {}).items()
    fresh = [] if args.force else [notebook for notebook in notebooks if same(notebook)]
    record = {name: known for name, known in record.items() if (ROOT / name).exists()}
    start = time.perf_counter()
    rows = run_all([notebook for notebook in notebooks if notebook not in fresh], args.jobs, record)
    rows |= {os.path.relpath(notebook, ROOT): ("same", 0.0, "") for notebook in fresh}
    print(f"\n{'state':6} {'seconds':>9}  notebook")
    for name, (state, seconds, _) in sorted(rows.items()): print(f"{state:6} {seconds:9.1f}  {name}")
    for name, (state, _, problem) in sorted(rows.items()):
        if problem: print(f"\n{name} failed and was left as it was:\n  " + "\n  ".join(problem.splitlines()[-6:]))
    failed = sum(state == "FAILED" for state, _, _ in rows.values())
    print(f"\n{len(rows)} notebooks, {len(fresh)} unchanged, {failed} failed, {time.perf_counter() - start:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    try: sys.exit(main())
    except KeyboardInterrupt:
        print("\nStopped; finished notebooks are kept, and `make paper` goes on from here.", flush=True)
        os._exit(130)
