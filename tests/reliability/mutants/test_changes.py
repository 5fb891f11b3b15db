"""A mutant finds its node whatever stands around it, and says so when there is not exactly one."""

from typing import Final

import pytest

from tests.reliability.mutants.changes import Behind, Change, Clause, Node
from tests.reliability.mutants.mutant import Mutant
from tests.reliability.mutants.syntax import Lost

CODE: Final = """
SELECT: Final = Statement(f"select {columns(Row)} from row where id = :id and day = :day for update")
NUMBERED: Final = "select * from row where id = $1 and day = $2"

class Account:
    def take(self, points):
        if points > self.available:  # not too many
            raise Declined
        write(
            self.row, points,
            whole=True,
        )
        count(points)

    def give(self, points):
        write(self.row, points, whole=True)

def write(row, points, whole):
    return [row, points]
"""


def mutated(within: str, change: Change, code: str = CODE) -> str:
    return Mutant("the check", "a.py", within, change, ()).of(code)


@pytest.mark.parametrize(
    ("within", "change", "line"),
    [
        pytest.param("Account.take", Node("points > self.available", "False"), "if False:", id="an expression"),
        pytest.param("Account.take", Node("count(points)"), "pass", id="a statement that is left out"),
        pytest.param("Account.take", Node("raise Declined", "return"), "return", id="a statement"),
        pytest.param("Account.take", Node("if ...:\n ..."), "pass", id="a block, whatever it holds"),
        pytest.param("Account.take", Node("write(...)"), "pass", id="a call, whatever its arguments"),
        pytest.param("Account.take", Node("write(..., points, whole=True)"), "pass", id="the last of the arguments"),
        pytest.param("Account.take", Node("... > self.available", "True"), "if True:", id="whatever is compared"),
        pytest.param(
            "Account.take", Behind("write(...)", of="count(...)"), "count(points)", id="a statement that is moved"
        ),
        pytest.param("write", Node("row", "None"), "return [None, points]", id="a name that is read"),
        pytest.param("SELECT", Clause("for update"), "and day = :day ", id="a clause of a statement"),
        pytest.param("SELECT", Clause("id = ? and", "? = id or"), "where :id = id or day", id="a named parameter"),
        pytest.param("NUMBERED", Clause("id=? and", "? = id or"), "where $1 = id or day", id="a numbered parameter"),
        pytest.param("NUMBERED", Clause("and  day\n= ?", "and ? < day"), "and $2 < day", id="other white space"),
    ],
)
def test_what_is_changed(within: str, change: Change, line: str) -> None:
    assert line in mutated(within, change)


def test_a_statement_that_is_moved_stands_there_once() -> None:
    text = mutated("Account.take", Behind("write(...)", of="count(...)"))
    assert text.count("count(points)") == 1
    assert text.index("count(points)") < text.index("write(self.row, points, whole=True)")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(CODE.replace("points > self.available", "(points\n > self.available)"), id="formatted otherwise"),
        pytest.param(CODE.replace("class Account", "LIMIT = 5\n\nclass Account"), id="moved"),
        pytest.param(CODE.replace("give", "put").replace("count(points)", "tell()"), id="among other neighbours"),
        pytest.param(CODE.replace("Statement(", "(").replace(":day", "$2"), id="beside another statement"),
        pytest.param(CODE.replace("give", "give(self): points > self.available\n    def put"), id="also elsewhere"),
    ],
)
def test_what_does_not_lose_it(code: str) -> None:
    assert "if False:" in mutated("Account.take", Node("points > self.available", "False"), code)


@pytest.mark.parametrize(
    ("within", "change", "said"),
    [
        ("Account.take", Node("points < self.available", "False"), "`points < self.available` stands there 0 times"),
        ("Account.take", Node("points", "0"), "`points` stands there 3 times"),
        ("Account.take", Node("write(self.row, points)"), r"`write\(self.row, points\)` stands there 0 times"),
        (
            "Account.take",
            Behind("count(...)", of="write(...)"),
            "`write(...)` does not follow `count(...)` in its block",
        ),
        ("Account.take", Behind("raise ...", of="count(...)"), "`count(...)` does not follow `raise ...` in its block"),
        ("SELECT", Clause("updat"), "`updat` stands there 0 times"),
        ("NUMBERED", Clause("= ?"), r"`= \?` stands there 2 times"),
        ("Account.spend", Node("points", "0"), "a definition of spend stands there 0 times"),
        ("AccountWithLots.take", Node("points", "0"), "a definition of AccountWithLots stands there 0 times"),
    ],
)
def test_what_loses_it(within: str, change: Change, said: str) -> None:
    said = said.replace("(...)", r"\(...\)")
    with pytest.raises(Lost, match=f"^the check: a.py::{within}: {said}$"):
        mutated(within, change)


def test_two_definitions_of_a_name() -> None:
    with pytest.raises(Lost, match="a definition of write stands there 2 times"):
        mutated("write", Node("row", "None"), CODE + "def write(): ...\n")
