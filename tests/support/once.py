"""Whole folders of tests that CI runs once, on embedded services: a folder's `conftest.py` says so by `run_once`."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest


def run_once(conftest: str) -> Callable[[list[pytest.Item]], None]:
    """The hook of that `conftest.py`: every test in its folder is marked `once`."""
    folder = Path(conftest).parent

    @cache  # there are some files, and twenty times as many tests in them
    def is_within(file: Path) -> bool:
        return folder in file.parents

    def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
        for item in items:
            if is_within(item.path):
                item.add_marker("once")

    return pytest_collection_modifyitems
