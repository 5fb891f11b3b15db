"""The changes that the page of the tools of reliability shows are those of mutants in the list of today."""

import re
from typing import Final

import pytest

from tests.reliability.mutants.changes import Behind, Clause, Node
from tests.reliability.mutants.table import MUTANTS
from tests.support.paths import ROOT

_EXAMPLE: Final = re.compile(r"^\| `((?:Node|Behind|Clause)\(.+\))` \|", re.MULTILINE)
EXAMPLES: Final = _EXAMPLE.findall((ROOT / "tests/reliability/README.md").read_text(encoding="utf-8"))


def test_every_kind_of_change_has_an_example() -> None:
    assert {example.partition("(")[0] for example in EXAMPLES} == {"Node", "Behind", "Clause"}


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_the_change_of_a_mutant(example: str) -> None:
    change = eval(example, {"Node": Node, "Behind": Behind, "Clause": Clause})  # noqa: S307  # our own document
    assert change in {mutant.change for mutant in MUTANTS}
