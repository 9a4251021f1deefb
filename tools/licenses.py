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
TOLD = {  # packages that need not be installed
    "abess": "GPL-3.0",
    "dedalus": "GPL-3.0-or-later",
    "exponax": "MIT",
    "gurobipy": "Proprietary",
    "py-pde": "MIT",
    "pysr": "Apache-2.0",
}
KNOWN = {  # what authors write, and its short name; the first that fits is taken
    r"Affero|\bAGPL": "AGPL",
    r"Lesser General|\bLGPL": "LGPL",
    r"General Public License.{0,40}(v|version )3|\bGPL-?v?3": "GPL-3.0",
    r"General Public License|\bGPL": "GPL",
    r"Proprietary": "Proprietary",
    r"Mozilla|\bMPL": "MPL-2.0",
    r"Apache": "Apache-2.0",
    r"Python Software Foundation|\bPSF": "PSF-2.0",
    r"\bISC\b": "ISC",
    r"Public Domain": "Public domain",
    r"BSD.3.Clause|Neither the name": "BSD-3-Clause",
    r"BSD.2.Clause": "BSD-2-Clause",
    r"BSD|Redistribution and use": "BSD",
    r"\bMIT\b|Permission is hereby granted, free of charge": "MIT",
}
OPENING = (
    "The code of `ubic` is under the MIT license. The tables list the packages that it needs and those that these "
    "need in turn, with the licenses that their own metadata tell, on the kind of machine where the list was made. "
    "Names in **bold** are those of `settings.ini`."
)
CORE = (
    "No package of the core is under the GPL, and a test keeps it so. The wheels of NumPy and SciPy hold the runtime "
    "library of GNU Fortran, whose GPL has an exception for programs that use it."
)
CUDA = "PyTorch for CUDA also brings libraries of NVIDIA, which are proprietary; the CPU build does not."


def short(text):
    "The short name of the license that a text names or is, or nothing."
    begin = text[:3000]
    fits = (name for pattern, name in KNOWN.items() if re.search(pattern, begin, re.DOTALL | re.IGNORECASE))
    return next(fits, None)


def is_license(file):
    "Whether a file of a distribution holds its license."
    return re.match("LICEN[CS]E|COPYING", file.name) and ".dist-info" in str(file)


def license_of(package):
    """The license of an installed distribution.

    Its expression, its short field, its classifiers, the text in its field or in its files: whichever is there first.
    """
    told = package.metadata
    if expression := told.get("License-Expression"): return expression
    field = (told.get("License") or "").strip()
    if re.fullmatch(r"[\w.+-]+( (AND|OR|WITH) [\w.+-]+)+", field): return field
    if "\n" not in field and short(field): return short(field)
    lines = [line for line in told.get_all("Classifier", []) if line.startswith("License")]
    classifiers = [short(line.rpartition(" :: ")[2]) for line in lines]
    known = dict.fromkeys(filter(None, classifiers))
    if known: return " AND ".join(known)
    files = [file.read_text() for file in package.files or [] if is_license(file)]
    return next(filter(None, map(short, [field, *files])), "unknown")


def is_copyleft(license):
    """Whether a license asks that whoever passes the package on does so under the GPL.

    The lesser GPL and exceptions for linking do not.
    """
    def asks(part): return bool(re.match(r"A?GPL", part.strip("() "))) and " WITH " not in part
    return all(any(asks(part) for part in choice.split(" AND ")) for choice in license.split(" OR "))


def declared():
    "The requirements of `settings.ini`: of the core, and of each extra."
    settings = configparser.ConfigParser(delimiters=["="])
    settings.read(ROOT / "settings.ini", encoding="utf-8")
    listed = {}
    for key, value in settings["DEFAULT"].items():
        group = key.removesuffix("requirements").rstrip("_") or "core"
        if key.endswith("requirements"): listed[group] = [Requirement(text) for text in value.split()]
    return listed


def wanted_by(package, extras):
    "What an installed distribution needs here, with some of its extras."
    for text in package.requires or []:
        one = Requirement(text)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)): yield one


def installed(name):
    "The distribution of a package, or nothing where it is not installed."
    try: return distribution(name)
    except PackageNotFoundError: return None


def reached(requirements):
    "Every package that some requirements lead to in this environment, and its distribution, if it is installed."
    found, waiting, seen = {}, list(requirements), set()
    while waiting:
        wanted = waiting.pop()
        key = canonicalize_name(wanted.name), frozenset(wanted.extras)
        if key in seen: continue
        seen.add(key)
        package = found[key[0]] = installed(wanted.name)
        if package: waiting += wanted_by(package, wanted.extras)
    return found


def collect():
    "Each package with its license, the extras (or the core) that need it, and whether `settings.ini` names it."
    rows = {}
    for group, requirements in declared().items():
        direct = {canonicalize_name(one.name) for one in requirements}
        for name, package in reached(requirements).items():
            license = TOLD.get(name) or (license_of(package) if package else "unknown")
            row = rows.setdefault(name, {"license": license, "groups": [], "direct": False})
            row["groups"].append(group)
            row["direct"] |= name in direct
    return rows


def where(row): return ", ".join(f"`{group}`" for group in row["groups"])


def listed(rows, wanted):
    "The packages whose licenses are wanted, in a line."
    found = {name: row for name, row in rows.items() if wanted(row["license"])}
    return "; ".join(f"{name} ({row['license']}; {where(row)})" for name, row in found.items()) or "none"


def table(rows, **columns):
    "Some packages as a table, with further columns: their heads, and what stands in them."
    def bold(name, row): return f"**{name}**" if row["direct"] else name
    head = f"| {' | '.join(['package', *columns])} |"
    lines = [[bold(name, row), *(cell(row) for cell in columns.values())] for name, row in rows.items()]
    return "\n".join([head, "|---" * (len(columns) + 1) + "|", *(f"| {' | '.join(line)} |" for line in lines)])


def page():
    "The whole text of LICENSES.md."
    rows = dict(sorted(collect().items()))
    core = {name: row for name, row in rows.items() if "core" in row["groups"]}
    others = {name: row for name, row in rows.items() if name not in core}
    def license(row): return row["license"]
    lesser = listed(rows, lambda license: license.startswith("LGPL"))
    proprietary = listed(rows, lambda license: license == "Proprietary")
    lines = [
        "<!-- made by `make licenses` -->",
        "# Licenses",
        "> Under what terms the packages behind `ubic` come.",
        OPENING,
        CORE,
        "What asks for more than to be named comes only with an extra:",
        f"- GPL, as a whole or in parts: {listed(rows, is_copyleft)}.",
        f"- Lesser GPL: {lesser}.",
        f"- Proprietary: {proprietary}. {CUDA}",
        "## The core",
        table(core, license=license),
        "## The extras",
        table(others, license=license, extras=where),
    ]
    return "\n\n".join(lines).replace(".\n\n- ", ".\n- ") + "\n"


if __name__ == "__main__": keep_in_step({FILE: page()}, __doc__)
