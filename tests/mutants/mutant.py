"""A mutant: the code with one lock, constraint or check taken away, and the tests that have to notice."""

from pathlib import Path
from typing import NamedTuple


class Lost(Exception):
    """The text that a mutant changes is not there exactly once."""


class Mutant(NamedTuple):
    """`find` stands once in `file` and is replaced by `put`; at least one of `tests` has to fail then."""

    name: str
    file: str
    find: str
    put: str
    tests: tuple[str, ...]

    def of(self, text: str) -> str:
        """The file's text with the change. Raises `Lost`."""
        if (found := text.count(self.find)) != 1:
            raise Lost(f"{self.name}: its text stands {found} times in {self.file}")
        return text.replace(self.find, self.put)

    def of_file(self, root: Path) -> str:
        return self.of((root / self.file).read_text(encoding="utf-8"))
