"""A mutant: the code with one lock, constraint or check taken away, and the tests that have to notice."""

import ast
from pathlib import Path
from typing import NamedTuple

from tests.reliability.mutants.changes import Change
from tests.reliability.mutants.syntax import Lost, definition


class Mutant(NamedTuple):
    """`change` alters one node of the function, class or constant `within`; at least one of `tests` has to fail then.

    `within` is a qualified name, as in `Account.available`.
    """

    name: str
    file: str
    within: str
    change: Change
    tests: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.file}::{self.within}"

    def of(self, text: str) -> str:
        """The file's text with the change. Comments and layout are lost. Raises `Lost`."""
        tree = ast.parse(text)
        try:
            self.change.make(definition(tree, self.within))
        except Lost as error:
            raise Lost(f"{self.name}: {self.place}: {error}") from error
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def of_file(self, root: Path) -> str:
        return self.of((root / self.file).read_text(encoding="utf-8"))
