"""Who is independent of whom: for some time nobody approves what a person asked for who gave them access."""

from datetime import datetime, timedelta
from typing import Final

import pytest

from abacus.people.decide.independence import tie, tied_to, told
from abacus.people.types.person import Access
from tests.people.approving import NOW

LASTS: Final = timedelta(days=30)
ANN, BEN, CAT = "person:ann", "person:ben", "person:cat"


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def gave(by: str, to: str, days: float = 1, did: str = "token") -> Access:
    return Access(by, to, did, ago(days))


# The access that was given, and in how many days what ann asked for may be approved by ben.
CASES: Final[dict[str, tuple[list[Access], float | None]]] = {
    "nothing": ([], None),
    "by who asked": ([gave(ANN, BEN)], 29),
    "by who approves": ([gave(BEN, ANN)], None),
    "by a third person to both": ([gave(CAT, ANN), gave(CAT, BEN, 3)], None),
    "to one of them by somebody else": ([gave(CAT, BEN)], None),
    "by one and the next": ([gave(ANN, CAT, 5), gave(CAT, BEN, 2)], 25),
    "handed on before it was there": ([gave(ANN, CAT, 2), gave(CAT, BEN, 5)], None),
    "handed on after one of several": ([gave(ANN, CAT, 7), gave(ANN, CAT, 2), gave(CAT, BEN, 5)], 23),
    "a month ago": ([gave(ANN, BEN, 30)], None),
    "nearly a month ago": ([gave(ANN, BEN, 29.9)], 0.1),
    "several times": ([gave(ANN, BEN, 20, "create"), gave(ANN, BEN, 10)], 20),
    "to oneself": ([gave(ANN, ANN), gave(BEN, BEN)], None),
    "by a login, to the first of a house": ([gave("login:root@host", ANN), gave("login:root@host", BEN)], None),
    "in a circle": ([gave(ANN, CAT, 3), gave(CAT, ANN, 2)], None),
}


@pytest.mark.parametrize("name", CASES)
def test_who_is_tied_to_whom(name: str) -> None:
    given, days = CASES[name]
    found = tie(ANN, BEN, given, NOW, LASTS)
    assert (found and found.until) == (days and NOW + timedelta(days=days))
    assert (ANN in tied_to(BEN, given, NOW, LASTS)) == (found is not None)
    assert BEN not in tied_to(BEN, given, NOW, LASTS)


def test_the_time_that_is_told_is_the_first_at_which_nothing_ties_them() -> None:
    for given, _ in CASES.values():
        found = tie(ANN, BEN, given, NOW, LASTS)
        if found is not None:
            assert tie(ANN, BEN, given, found.until, LASTS) is None
            assert tie(ANN, BEN, given, found.until - timedelta(seconds=1), LASTS) is not None


def test_the_refusal_says_why_and_until_when_and_what_to_do() -> None:
    given = [gave(ANN, CAT, 3, "create"), gave(CAT, BEN, 2, "roles")]
    tied = tie(ANN, BEN, given, NOW, LASTS)
    assert tied is not None
    assert told(tied, ANN, BEN, LASTS) == (
        "person:ben is not independent of person:ann: person:ann entered person:cat on 2026-11-19;"
        " person:cat gave roles to person:ben on 2026-11-20. person:ben may approve this from 2026-12-19 00:00 UTC on;"
        " until then it takes an approver to whom person:ann gave no access in the last 30 days"
    )
