"""The list of mutants cannot rot: each still changes what it says, and names tests that are there."""

from ast import parse, unparse
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.reliability.mutants.changes import Node
from tests.reliability.mutants.mutant import Mutant
from tests.reliability.mutants.table import HANDFUL, MUTANTS
from tests.reliability.mutants.trial import ROOT, Fate, Unfit, Verdict, try_all
from tests.support.services import Services


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_its_node_is_there_once_and_its_tests_too(mutant: Mutant) -> None:
    changed = mutant.of_file(ROOT)
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    if mutant.within:
        assert changed != _plain(text)
        compile(changed, mutant.file, "exec")
    assert changed != text
    for test in mutant.tests:
        file, name = test.partition("[")[0].split("::")
        assert callable(getattr(_module(ROOT / file), name))


@cache
def _plain(text: str) -> str:
    """As a mutant that changes nothing would be written."""
    return unparse(parse(text)) + "\n"


def test_names_are_unique_and_the_handful_is_among_them() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(set(names)) == len(names)
    assert set(names) >= HANDFUL


ALLOWANCE: Final = "abacus/ledger/decide/allowance.py"
TODAY: Final = ("tests/ledger/test_limits.py::test_an_allowance_rolls_over",)
TRIED: Final = (
    Mutant("nothing", ALLOWANCE, "Allowance.on", Node("day <= self.day", "self.day >= day"), TODAY),
    Mutant("the new day", ALLOWANCE, "Allowance.on", Node("self._replace(...)", "self"), TODAY),
    Mutant("what a module is made with", ALLOWANCE, "NOBODY", Node("LimitUse(...)", "LimitUse()"), TODAY),
)


@pytest.mark.long
async def test_what_is_told_of_each(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant that changes nothing survives, and one that breaks the code proves nothing."""
    monkeypatch.setenv("ABACUS_TEST_DATABASE_URL", services.database_url)
    told: list[Verdict] = []
    verdicts = await try_all(TRIED, 1, told.append)
    assert [verdict.fate for verdict in verdicts] == [Fate.SURVIVED, Fate.KILLED, Fate.BROKEN]
    assert verdicts[1].by == TODAY[0]
    assert "assert 10 == 0" in verdicts[1].because
    assert told == verdicts


@pytest.mark.long
async def test_tests_that_fail_anyway_judge_nothing(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABACUS_TEST_DATABASE_URL", services.database_url)
    unknown = TRIED[0]._replace(tests=("tests/ledger/test_limits.py::test_nothing",))
    with pytest.raises(Unfit, match="pytest ended with"):
        await try_all([unknown], 1, lambda _: None)


def _module(file: Path) -> object:
    return import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
