"""Files that a command names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from abacus.core.errors import Refused


@contextmanager
def usable(file: Path, option: str | None = None) -> Iterator[None]:
    """Raises `Refused`, which names the file and its option, where the machine cannot read or write it."""
    try:
        yield
    except OSError as error:
        named = f"{option}: {file}" if option else str(file)
        raise Refused(f"{named}: {error.strerror or error}") from error
