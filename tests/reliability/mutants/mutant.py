"""A mutant: the code with one lock, constraint or check taken away, and the tests that have to notice."""

import ast
from pathlib import Path
from typing import NamedTuple

from tests.reliability.mutants.changes import Change, Clause
from tests.reliability.mutants.syntax import Lost, definition


class Mutant(NamedTuple):
    """`change` alters one node of the function, class or constant `within`; at least one of `tests` has to fail then.

    `within` is a qualified name, as in `Account.available`; it is empty for a script of SQL, which a `Clause` changes.
    """

    name: str
    file: str
    within: str
    change: Change
    tests: tuple[str, ...]

    @property
    def place(self) -> str:
        return f"{self.file}::{self.within}" if self.within else self.file

    def of(self, text: str) -> str:
        """The file's text with the change. Comments and layout of Python are lost. Raises `Lost`."""
        try:
            if isinstance(self.change, Clause) and not self.within:
                return self.change.of_script(text)
            tree = ast.parse(text)
            self.change.make(definition(tree, self.within))
        except Lost as error:
            raise Lost(f"{self.name}: {self.place}: {error}") from error
        return ast.unparse(ast.fix_missing_locations(tree)) + "\n"

    def of_file(self, root: Path) -> str:
        return self.of((root / self.file).read_text(encoding="utf-8"))
