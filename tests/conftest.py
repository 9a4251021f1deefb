"""Shared by all tests: the folder of published arrays, and tests that only run when asked for."""
import os
from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long; runs only with --slow")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"): return
    for item in items:
        if "slow" in item.keywords: item.add_marker(pytest.mark.skip(reason="slow; run it with --slow"))


@pytest.fixture(scope="session")
def reference():
    "Folder of the published arrays."
    folder = Path(os.environ.get("UBIC_REFERENCE") or Path(__file__).resolve().parents[2]/"shared"/"reference")
    if not folder.is_dir(): pytest.skip(f"the published arrays are not in {folder}; set UBIC_REFERENCE to their folder")
    return folder
