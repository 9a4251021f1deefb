"""The licenses of all packages behind this one, core and extras, as their installed metadata tell them: LICENSES.md.

Versions are left out, so that the file changes only when a package comes, goes or changes its license.
"""
import configparser
import re
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from generated import ROOT, keep_in_step

FILE = ROOT / "LICENSES.md"
TOLD = {"abess": "GPL-3.0", "dedalus": "GPL-3.0-or-later", "gurobipy": "Proprietary", "pysr": "Apache-2.0"} # packages that need not be installed
KNOWN = { # what authors write, and its short name; the first that fits is taken
    r"Affero|\bAGPL": "AGPL", r"Lesser General|\bLGPL": "LGPL", r"General Public License.{0,40}(v|version )3|\bGPL-?v?3": "GPL-3.0", r"General Public License|\bGPL": "GPL",
    r"Proprietary": "Proprietary", r"Mozilla|\bMPL": "MPL-2.0", r"Apache": "Apache-2.0", r"Python Software Foundation|\bPSF": "PSF-2.0", r"\bISC\b": "ISC", r"Public Domain": "Public domain",
    r"BSD.3.Clause|Neither the name": "BSD-3-Clause", r"BSD.2.Clause": "BSD-2-Clause", r"BSD|Redistribution and use": "BSD", r"\bMIT\b|Permission is hereby granted, free of charge": "MIT",
}


def short(text):
    "The short name of the license that a text names or is, or nothing."
    return next((name for pattern, name in KNOWN.items() if re.search(pattern, text[:3000], re.DOTALL | re.IGNORECASE)), None)


def license_of(package):
    "The license of an installed distribution: its expression, its short field, its classifiers, the text in its field or in its files, whichever is there first."
    told = package.metadata
    if expression := told.get("License-Expression"): return expression
    field = (told.get("License") or "").strip()
    if re.fullmatch(r"[\w.+-]+( (AND|OR|WITH) [\w.+-]+)+", field): return field
    if "\n" not in field and short(field): return short(field)
    classifiers = [short(line.rpartition(" :: ")[2]) for line in told.get_all("Classifier", []) if line.startswith("License")]
    files = [file.read_text() for file in package.files or [] if re.match("LICEN[CS]E|COPYING", file.name) and ".dist-info" in str(file)]
    return " AND ".join(dict.fromkeys(filter(None, classifiers))) or next(filter(None, map(short, [field, *files])), "unknown")


def is_copyleft(license):
    "Whether a license asks that whoever passes the package on does so under the GPL; the lesser GPL and exceptions for linking do not."
    def asks(part): return bool(re.match(r"A?GPL", part.strip("() "))) and " WITH " not in part
    return all(any(asks(part) for part in choice.split(" AND ")) for choice in license.split(" OR "))


def declared():
    "The requirements of `settings.ini`: of the core, and of each extra."
    settings = configparser.ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    listed = {key.removesuffix("requirements").rstrip("_") or "core": value.split() for key, value in settings["DEFAULT"].items() if key.endswith("requirements")}
    return {group: list(map(Requirement, texts)) for group, texts in listed.items()}


def reached(requirements):
    "Every package that some requirements lead to in this environment, and its distribution, if it is installed."
    found, waiting, seen = {}, list(requirements), set()
    while waiting:
        wanted = waiting.pop()
        key = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if key in seen: continue
        seen.add(key)
        try: found[key[0]] = distribution(wanted.name)
        except PackageNotFoundError: found[key[0]] = None; continue
        further = map(Requirement, found[key[0]].requires or [])
        waiting += [one for one in further if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras))]
    return found


def collect():
    "Each package with its license, the extras (or the core) that need it, and whether `settings.ini` names it."
    rows = {}
    for group, requirements in declared().items():
        direct = {canonicalize_name(one.name) for one in requirements}
        for name, package in reached(requirements).items():
            row = rows.setdefault(name, {"license": TOLD.get(name) or (license_of(package) if package else "unknown"), "groups": [], "direct": False})
            row["groups"].append(group)
            row["direct"] |= name in direct
    return rows


def where(row): return ", ".join(f"`{group}`" for group in row["groups"])


def listed(rows): return "; ".join(f"{name} ({row['license']}; {where(row)})" for name, row in rows.items()) or "none"


def page():
    "The whole text of LICENSES.md."
    rows = dict(sorted(collect().items()))
    core, others = ({name: row for name, row in rows.items() if ("core" in row["groups"]) == inside} for inside in (True, False))
    def bold(name, row): return f"**{name}**" if row["direct"] else name
    lines = ["<!-- made by `make licenses` -->", "# Licenses", "> Under what terms the packages behind `ubic` come.",
             "The code of `ubic` is under the MIT license. The tables list the packages that it needs and those that these need in turn, with the licenses that their own metadata "
             "tell, on the kind of machine where the list was made. Names in **bold** are those of `settings.ini`.",
             "No package of the core is under the GPL, and a test keeps it so. The wheels of NumPy and SciPy hold the runtime library of GNU Fortran, whose GPL has an exception for programs that use it.",
             "What asks for more than to be named comes only with an extra:",
             f"- GPL, as a whole or in parts: {listed({name: row for name, row in rows.items() if is_copyleft(row['license'])})}.",
             f"- Lesser GPL: {listed({name: row for name, row in rows.items() if row['license'].startswith('LGPL')})}.",
             f"- Proprietary: {listed({name: row for name, row in rows.items() if row['license'] == 'Proprietary'})}. PyTorch for CUDA also brings libraries of NVIDIA, which are proprietary; the CPU build does not.",
             "## The core", "\n".join(["| package | license |", "|---|---|", *(f"| {bold(name, row)} | {row['license']} |" for name, row in core.items())]),
             "## The extras", "\n".join(["| package | license | extras |", "|---|---|---|", *(f"| {bold(name, row)} | {row['license']} | {where(row)} |" for name, row in others.items())])]
    return "\n\n".join(lines).replace(".\n\n- ", ".\n- ") + "\n"


if __name__ == "__main__": keep_in_step({FILE: page()}, __doc__)
