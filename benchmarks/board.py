"""What the scoreboards share: rows that are kept as they come, and runs that go on where they were interrupted."""
import hashlib
import pathlib
from concurrent.futures import ProcessPoolExecutor, as_completed

import pandas as pd
from tqdm import tqdm

import ubic
from ubic.files import write_atomically


def keep(rows, file, order):
    "Write rows, sorted by some columns."
    table = pd.DataFrame(rows).sort_values(order)
    write_atomically(file, lambda file: file.write(table.to_csv(index=False).encode()))


def version():
    "A digest of the package: runs of another one do not count."
    modules = sorted(pathlib.Path(ubic.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(module.read_bytes() for module in modules)).hexdigest()[:12]


def kept(file, package):
    "The rows of earlier runs of the same package."
    if not file.exists(): return []
    rows = pd.read_csv(file, dtype={"package": str}, keep_default_na=True).to_dict("records")
    return [row for row in rows if row.get("package") == package]


def run_all(job, jobs, rows, file, order, workers) -> pd.DataFrame:
    "Do what is left to do, each in a process of its own, and keep every row at once."
    package = version()
    with ProcessPoolExecutor(workers) as pool:
        futures = [pool.submit(job, *each) for each in jobs]
        for future in tqdm(as_completed(futures), total=len(futures), desc="runs"):
            rows.append({**future.result(), "package": package})
            keep(rows, file, order)
    return pd.DataFrame(rows)
