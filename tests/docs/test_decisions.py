"""Each decision says when it was made and whether it stands, and the list of decisions says the same."""

import re
from pathlib import Path

import pytest

from tests.support.paths import DOCS

ADR = DOCS / "adr"
DECISIONS = sorted(ADR.glob("0*.md"))
_STATUS = re.compile(r"Date: (\d{4}-\d\d-\d\d)\. Status: (accepted|superseded by (\d{4}))\.(?: |$)", re.MULTILINE)
_ENTRY = re.compile(r"^\| \[(\d{4})\]\((\S+)\) \| (.+) \| (\d{4}-\d\d-\d\d) \| (.+) \|$", re.MULTILINE)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_carries_its_date_and_status(decision: Path) -> None:
    title, blank, line = decision.read_text(encoding="utf-8").splitlines()[:3]
    assert title.startswith(f"# {decision.name[:4]} ")
    assert blank == ""
    status = _STATUS.match(line)
    assert status is not None, line
    if status[3] is not None:
        assert [each for each in DECISIONS if each.name.startswith(status[3])] != []


def test_the_list_has_every_decision_once_in_order_as_it_says_itself() -> None:
    listed = [
        (entry[1], entry[0], entry[3], entry[4]) for entry in _ENTRY.findall((ADR / "README.md").read_text("utf-8"))
    ]
    said = []
    for decision in DECISIONS:
        status = _STATUS.search(decision.read_text(encoding="utf-8"))
        assert status is not None
        said.append((decision.name, decision.name[:4], status[1], status[2]))
    assert listed == said
