"""The changes that a mutant may make to its definition: change a node, move a statement, change a clause of a text."""

import ast
import re
from textwrap import dedent
from typing import Final, NamedTuple, TypeAlias

from tests.reliability.mutants.syntax import Lost, Slot, matches, only, slots

_TOKEN: Final = re.compile(r"[\w.]+|\S")
_PARAMETER: Final = r"(\$\d+|(?<!:):[a-z_]\w*)"  # in SQL, numbered or named


class Node(NamedTuple):
    """One expression or statement becomes another; with nothing to put, a statement is left out."""

    find: str
    put: str = ""

    def make(self, scope: ast.stmt) -> None:
        """Raises `Lost`."""
        pattern = _statement(self.find)
        if isinstance(pattern, ast.Expr) and self.put:
            put: list[ast.AST] = [ast.parse(self.put, mode="eval").body]
            _slot(pattern.value, scope, self.find).put(put)
        else:
            _slot(pattern, scope, self.find).put(ast.parse(dedent(self.put)).body or [ast.Pass()])


class Behind(NamedTuple):
    """One statement is moved behind another that follows it in the same block."""

    statement: str
    of: str

    def make(self, scope: ast.stmt) -> None:
        """Raises `Lost`."""
        first, last = (_slot(_statement(each), scope, each) for each in self)
        block = first.siblings
        if last.siblings is not block or block.index(last.node) < block.index(first.node):
            raise Lost(f"`{self.of}` does not follow `{self.statement}` in its block")
        block.insert(block.index(last.node) + 1, first.node)
        block.remove(first.node)


class Clause(NamedTuple):
    """A clause becomes another in a script of SQL, or in one of the texts of a constant, f-strings included.
    White space does not matter.

    `?` is a parameter of SQL, however it is written. In `put` each `?` is the next of those that `find` has.
    """

    find: str
    put: str = ""

    def make(self, scope: ast.stmt) -> None:
        """Raises `Lost`."""
        texts = [node for node in ast.walk(scope) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        node, match = only([(node, match) for node in texts for match in self._in(str(node.value))], f"`{self.find}`")
        node.value = self._put(match)

    def of_script(self, script: str) -> str:
        """The script of SQL with the change. Raises `Lost`."""
        return self._put(only(self._in(script), f"`{self.find}`"))

    def _in(self, text: str) -> list[re.Match[str]]:
        return list(_clause(self.find).finditer(text))

    def _put(self, match: re.Match[str]) -> str:
        parameters = iter(match.groups())
        put = re.sub(r"\?", lambda _: next(parameters), self.put)
        return match.string[: match.start()] + put + match.string[match.end() :]


Change: TypeAlias = Node | Behind | Clause


def _statement(source: str) -> ast.stmt:
    (statement,) = ast.parse(dedent(source)).body
    return statement


def _slot(pattern: ast.AST, scope: ast.stmt, source: str) -> Slot:
    return only([slot for slot in slots(scope) if matches(pattern, slot.node)], f"`{source}`")


def _clause(find: str) -> re.Pattern[str]:
    """Words keep their bounds and some white space between them; around anything else it may be missing."""
    written = ""
    before = ""
    for token in _TOKEN.findall(find):
        if before:
            written += r"\s+" if _is_word(before) and _is_word(token) else r"\s*"
        written += _word(token) if _is_word(token) else _mark(token)
        before = token
    return re.compile(written)


def _is_word(token: str) -> bool:
    return token[0].isalnum() or token[0] in "_."


def _word(token: str) -> str:
    return rf"(?<![\w.]){re.escape(token)}(?![\w.])"


def _mark(token: str) -> str:
    return _PARAMETER if token == "?" else re.escape(token)
