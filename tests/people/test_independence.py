"""Who is independent of whom: access that one person gave another ties the two for some time."""

from datetime import datetime, timedelta
from typing import Final

import pytest

from abacus.people.decide.independence import tie, told
from abacus.people.types.access import Access
from tests.people.approving import NOW

LASTS: Final = timedelta(days=30)
ANN, BEN, CAT, DAN, ACME = "person:ann", "person:ben", "person:cat", "person:dan", "partner:acme"


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def gave(by: str, to: str, days: float = 1, did: str = "token") -> Access:
    return Access(by, to, did, ago(days))


# The access that was given; who asked and who wants to approve; from whom the tie comes, and in how many days it ends.
CASES: Final[dict[str, tuple[list[Access], tuple[str, str], tuple[str, float] | None]]] = {
    "nothing": ([], (ANN, BEN), None),
    "by who asked": ([gave(ANN, BEN)], (ANN, BEN), (ANN, 29)),
    "by who approves": ([gave(BEN, ANN)], (ANN, BEN), (BEN, 29)),
    "by one person to both": ([gave(CAT, ANN), gave(CAT, BEN, 3)], (ANN, BEN), (CAT, 27)),
    "to one of them by somebody else": ([gave(CAT, BEN)], (ANN, BEN), None),
    "by different people": ([gave(CAT, ANN), gave(DAN, BEN)], (ANN, BEN), None),
    "by one and the next": ([gave(ANN, CAT, 5), gave(CAT, BEN, 2)], (ANN, BEN), (ANN, 25)),
    "handed on before it was there": ([gave(ANN, CAT, 2), gave(CAT, BEN, 5)], (ANN, BEN), None),
    "handed on after one of several": (
        [gave(ANN, CAT, 7), gave(ANN, CAT, 2), gave(CAT, BEN, 5)],
        (ANN, BEN),
        (ANN, 23),
    ),
    "a month ago": ([gave(ANN, BEN, 30)], (ANN, BEN), None),
    "nearly a month ago": ([gave(ANN, BEN, 29.9)], (ANN, BEN), (ANN, 0.1)),
    "several times": ([gave(ANN, BEN, 20, "create"), gave(ANN, BEN, 10)], (ANN, BEN), (ANN, 20)),
    "to oneself": ([gave(ANN, ANN), gave(BEN, BEN)], (ANN, BEN), None),
    "by a login, to the first of a house": (
        [gave("login:root@host", ANN), gave("login:root@host", BEN)],
        (ANN, BEN),
        None,
    ),
    "a partner's key": ([gave(BEN, ACME, 1, "rotate-key")], (ACME, BEN), (BEN, 29)),
    "in a circle": ([gave(ANN, CAT, 3), gave(CAT, ANN, 2)], (ANN, BEN), None),
}


@pytest.mark.parametrize("name", CASES)
def test_who_is_tied_to_whom(name: str) -> None:
    given, (asked_by, by), expected = CASES[name]
    found = tie(asked_by, by, given, NOW, LASTS)
    assert (found and (found.root, found.until)) == (expected and (expected[0], NOW + timedelta(days=expected[1])))


def test_the_time_that_is_told_is_the_first_at_which_nothing_ties_them() -> None:
    for given, (asked_by, by), _ in CASES.values():
        found = tie(asked_by, by, given, NOW, LASTS)
        if found is not None:
            assert tie(asked_by, by, given, found.until, LASTS) is None
            assert tie(asked_by, by, given, found.until - timedelta(seconds=1), LASTS) is not None


def test_the_refusal_says_why_and_until_when_and_what_to_do() -> None:
    given = [gave(CAT, ANN, 3, "create"), gave(CAT, BEN, 2, "roles")]
    tied = tie(ANN, BEN, given, NOW, LASTS)
    assert tied is not None
    assert told(tied, ANN, BEN, LASTS) == (
        "person:ben is not independent of person:ann: person:cat gave roles to person:ben on 2026-11-20;"
        " person:cat entered person:ann on 2026-11-19. person:ben may approve this from 2026-12-19 00:00 UTC on;"
        " until then it takes an approver to whom person:cat gave no access in the last 30 days"
    )
