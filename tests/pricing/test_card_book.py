"""The card that is in force at a time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest

from abacus.cli.examples import example_cards
from abacus.core.errors import Reason, Refused, SetAside, Unavailable
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import CardState, PublishedCard

CARDS = {card.scope: card for card in example_cards()}
HERE = timezone(timedelta(hours=8))


def published(scope: str, version: int, month: int) -> PublishedCard:
    return PublishedCard(replace(CARDS[scope], effective_from=datetime(2026, month, 1, tzinfo=HERE)), version)


# SG@3 corrects SG@1 from the same day on; SG@4 was published late, for a month that SG@2 does not cover.
PUBLISHED = [
    published("SG", 1, 1),
    published("SG", 2, 4),
    published("SG", 3, 1),
    published("SG", 4, 3),
    published("TH", 1, 6),
]
BOOK = CardBook(PUBLISHED)


@pytest.mark.parametrize(
    ("scope", "at", "outcome"),
    [
        ("SG", datetime(2026, 1, 1, tzinfo=HERE), "SG@3"),
        ("SG", datetime(2025, 12, 31, 16, tzinfo=UTC), "SG@3"),
        ("SG", datetime(2026, 2, 28, 23, 59, 59, 999_999, tzinfo=HERE), "SG@3"),
        ("SG", datetime(2026, 3, 1, tzinfo=HERE), "SG@4"),
        ("SG", datetime(2026, 3, 31, 15, 59, 59, tzinfo=UTC), "SG@4"),
        ("SG", datetime(2026, 3, 31, 16, tzinfo=UTC), "SG@2"),
        ("SG", datetime(2036, 1, 1, tzinfo=HERE), "SG@2"),
        ("TH", datetime(2026, 6, 1, tzinfo=HERE), "TH@1"),
        ("SG", datetime(2025, 12, 31, 23, 59, 59, tzinfo=HERE), Reason.NO_CARD_IN_FORCE),
        ("TH", datetime(2026, 5, 31, tzinfo=HERE), Reason.NO_CARD_IN_FORCE),
        ("ID", datetime(2026, 6, 1, tzinfo=HERE), Reason.UNKNOWN_COUNTRY),
        ("sg", datetime(2026, 6, 1, tzinfo=HERE), Reason.UNKNOWN_COUNTRY),
    ],
)
@pytest.mark.parametrize("order", [PUBLISHED, PUBLISHED[::-1]], ids=["in order", "out of order"])
def test_the_card_in_force(order: list[PublishedCard], scope: str, at: datetime, outcome: str | Reason) -> None:
    book = CardBook(order)
    if isinstance(outcome, Reason):
        with pytest.raises(SetAside) as aside:
            book.in_force(scope, at)
        assert aside.value.reason is outcome
    else:
        assert book.in_force(scope, at).name == outcome


def test_the_same_object_every_time() -> None:
    at = datetime(2026, 2, 1, tzinfo=UTC)
    assert BOOK.in_force("SG", at) is PUBLISHED[2]
    assert BOOK.in_force("SG", at) is BOOK.by_name("SG@3")


def test_what_the_book_holds() -> None:
    assert len(BOOK) == len(PUBLISHED)
    assert BOOK.scopes() == ["SG", "TH"]
    assert [each.name for each in BOOK.versions("SG")] == ["SG@1", "SG@2", "SG@3", "SG@4"]
    assert BOOK.versions("ID") == []
    assert len(CardBook([])) == 0


@pytest.mark.parametrize("name", ["SG@5", "SG", "SG@01", "ID@1", ""])
def test_a_name_that_no_card_has(name: str) -> None:
    with pytest.raises(Refused, match="there is no rate card"):
        BOOK.by_name(name)


# SG@2 begins in April and can still be withdrawn, as can SG@3, which begins in May; TH@1 begins in June.
SCHEDULED = CardBook(
    [
        published("SG", 1, 1),
        replace(published("SG", 2, 4), state=CardState.OPEN),
        replace(published("SG", 3, 5), state=CardState.OPEN),
        replace(published("TH", 1, 6), state=CardState.OPEN),
    ]
)
MARCH, APRIL, MAY = (datetime(2026, month, 1, tzinfo=HERE) for month in (3, 4, 5))


def test_nothing_is_awarded_by_a_card_that_can_still_be_withdrawn() -> None:
    """A process that last read the cards long before the start does not know whether the card was withdrawn since."""
    assert SCHEDULED.in_force("SG", APRIL - timedelta(microseconds=1)).name == "SG@1"
    for at in (APRIL, MAY, MAY + timedelta(days=99)):
        with pytest.raises(
            Unavailable, match=r"a card of SG that begins at 2026-03-31T16:00:00.00:00 is not final yet"
        ):
            SCHEDULED.in_force("SG", at)
    with pytest.raises(SetAside, match="before the first rate card of TH, TH@1"):
        SCHEDULED.in_force("TH", MAY)
    with pytest.raises(Unavailable):
        SCHEDULED.in_force("TH", datetime(2026, 6, 1, tzinfo=HERE))


def test_foresight_goes_by_scheduled_cards() -> None:
    expected = [SCHEDULED.expected("SG", at).name for at in (MARCH, APRIL, MAY)]
    assert expected == ["SG@1", "SG@2", "SG@3"]
    for scope, reason in (("ID", Reason.UNKNOWN_COUNTRY), ("TH", Reason.NO_CARD_IN_FORCE)):
        with pytest.raises(SetAside) as aside:
            SCHEDULED.expected(scope, MAY)
        assert aside.value.reason is reason


def test_a_withdrawn_card_is_found_by_its_name_alone() -> None:
    book = CardBook([published("SG", 1, 1), replace(published("SG", 2, 4), state=CardState.WITHDRAWN)])
    assert book.in_force("SG", MAY).name == book.expected("SG", MAY).name == "SG@1"
    assert book.by_name("SG@2").card.effective_from == APRIL
    assert [each.name for each in book.versions("SG")] == ["SG@1"]
    nothing = CardBook([replace(published("SG", 1, 1), state=CardState.WITHDRAWN)])
    assert (nothing.scopes(), "SG" in nothing, "SG@1" in nothing) == ([], False, True)
