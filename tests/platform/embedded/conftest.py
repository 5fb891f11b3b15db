"""Data directories, and their owners."""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.platform.embedded.owner import Owner


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """Not below pytest's own folder: another run of pytest closes that one to the user that Postgres runs as."""
    with tempfile.TemporaryDirectory(prefix="abacus-tests-") as directory:
        yield Path(directory)


@pytest.fixture
def owner(data_dir: Path) -> Iterator[Callable[..., Owner]]:
    """Starts owners of one data directory, and in the end leaves none."""
    owners: list[Owner] = []

    def start(**options: Any) -> Owner:
        owners.append(Owner(data_dir, **{"durable": False} | options))
        return owners[-1]

    yield start
    for each in owners:
        each.close()
