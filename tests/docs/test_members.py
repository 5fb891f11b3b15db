"""Whoever follows two pages on one ledger meets on each the figures that it shows: no page uses another's members."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

import pytest

from tests.support.documents import documents
from tests.support.paths import ROOT

_NAMED: Final = re.compile(
    r"""/v1/members/(\w+)
    | "member_id":\ "(\w+)"
    | abacus\ points\ (?:spend|hold|lots|holds)\ (\w+)
    | abacus\ adjustments\ add\ (\w+)
    | abacus\ tiers\ (?:set|show|clear|history)\ (\w+)
    | abacus\ members\ (?:show|erase|transfers)\ (\w+)
    | abacus\ ledger\ prove\ (\w+)
    | \.(?:award|spend|hold|member|transfers)\("(\w+)"
    | welcome-(\w+)""",
    re.VERBOSE,
)
_ANYBODY: Final = {"ID", "MEMBER", "id"}  # a placeholder of a synopsis


def members(page: Path) -> set[str]:
    text = page.read_text(encoding="utf-8")
    return {name for names in _NAMED.findall(text) for name in names if name} - _ANYBODY


def test_each_page_has_members_of_its_own() -> None:
    pages: dict[str, list[str]] = defaultdict(list)
    for page in [*documents(), ROOT / "client" / "README.md"]:
        for member in members(page):
            pages[member].append(str(page.relative_to(ROOT)))
    assert {member: shared for member, shared in pages.items() if len(shared) > 1} == {}
    assert len(pages) >= 10


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("curl $API/v1/members/pat/lots", {"pat"}),
        ("""-d '{"member_id": "pat", "points": 100}'""", {"pat"}),
        ("$ abacus points spend pat 30 --key till-1", {"pat"}),
        ("abacus members erase ID --reason WHY", set()),
        ('abacus.award("pat", country="SG")', {"pat"}),
        ("Idempotency-Key: welcome-pat", {"pat"}),
    ],
)
def test_how_a_command_names_a_member(tmp_path: Path, line: str, named: set[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(line, encoding="utf-8")
    assert members(page) == named
