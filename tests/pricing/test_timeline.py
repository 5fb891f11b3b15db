"""The cards of a scope along time, against the card that is in force at each moment."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import SetAside
from abacus.documents.types import Record, Version, Withdrawal
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.pricing.decide.timeline import Phase, next_of, place_of, published_card, timeline
from tests.support.cards import SINGAPORE

FIRST = datetime(2026, 1, 1, tzinfo=UTC)
NOW = FIRST + timedelta(days=5)


def record(version: int, day: int, *, withdrawn: bool = False) -> Record[RateCard]:
    card = replace(SINGAPORE, effective_from=FIRST + timedelta(days=day))
    withdrawal = Withdrawal(FIRST, "ben", "a mistake") if withdrawn else None
    return Record(card, Version("SG", version, FIRST, "ann", withdrawal, {"is_final": True}))


def lines(records: list[Record[RateCard]]) -> list[tuple[int, Phase, int | None]]:
    return [
        (span.published.version, span.phase, (span.until - FIRST).days if span.until else None)
        for span in timeline(records, NOW)
    ]


def test_past_present_scheduled_superseded_and_withdrawn() -> None:
    records = [
        record(1, 0),
        record(2, 9),
        record(3, 3),  # corrects the first from the third day on; the second still takes over on the ninth
        record(4, 9, withdrawn=True),
        record(5, 12),
        record(6, 12),  # from the same moment on: the fifth never comes
    ]
    assert lines(records[::-1]) == [
        (1, Phase.PAST, 3),
        (3, Phase.IN_FORCE, 9),
        (2, Phase.SCHEDULED, 12),
        (4, Phase.WITHDRAWN, None),
        (5, Phase.SUPERSEDED, None),
        (6, Phase.SCHEDULED, None),
    ]


@pytest.mark.parametrize(
    ("day", "displaced", "successor"), [(0, None, 1), (1, 1, 3), (5, 3, 2), (9, 2, None), (20, 2, None)]
)
def test_where_a_draft_comes_to_stand(day: int, displaced: int | None, successor: int | None) -> None:
    """Not against the newest, but against the card of its first day."""
    cards = [*map(published_card, [record(1, 1), record(2, 9), record(3, 3), record(4, 4, withdrawn=True)])]
    place = place_of(record(9, day).document, cards)
    assert (place.displaced and place.displaced.version, place.successor and place.successor.version) == (
        displaced,
        successor,
    )


versions = st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=8)


@given(versions)
def test_the_timeline_says_what_the_book_does(drawn: list[tuple[int, bool]]) -> None:
    records = [record(number, day, withdrawn=withdrawn) for number, (day, withdrawn) in enumerate(drawn, 1)]
    book = CardBook(map(published_card, records))
    spans = timeline(records, NOW)
    for hour in range(0, 24 * 14, 12):
        at = FIRST + timedelta(hours=hour)
        by_spans = [
            span.published
            for span in spans
            if span.phase in {Phase.PAST, Phase.IN_FORCE, Phase.SCHEDULED}
            and span.published.card.effective_from <= at
            and (span.until is None or at < span.until)
        ]
        try:
            assert by_spans == [book.expected("SG", at)]
        except SetAside:
            assert by_spans == []
    current = [span.published for span in spans if span.phase is Phase.IN_FORCE]
    assert current == [card for card in [_expected(book, NOW)] if card is not None]
    upcoming = [span.published for span in spans if span.phase is Phase.SCHEDULED]
    assert next_of(book, "SG", NOW) == (upcoming[0] if upcoming else None)


def _expected(book: CardBook, at: datetime) -> PublishedCard | None:
    try:
        return book.expected("SG", at)
    except SetAside:
        return None
