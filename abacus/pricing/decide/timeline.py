"""The cards of one scope along time: which was in force, which is, which will be, and who published each. Pure."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import CardState, PublishedCard, RateCard


class Withdrawal(NamedTuple):
    """Who withdrew a card before it began, and why."""

    withdrawn_at: datetime
    withdrawn_by: str
    reason: str


class CardRecord(NamedTuple):
    """A published card with its history."""

    published: PublishedCard
    published_at: datetime
    published_by: str
    approved_by: str | None
    withdrawal: Withdrawal | None


class Phase(StrEnum):
    """The part that a card plays at a time."""

    PAST = "past"
    IN_FORCE = "in force"
    SCHEDULED = "scheduled"
    SUPERSEDED = "superseded"  # another card that begins at the same moment was published later
    WITHDRAWN = "withdrawn"


class Span(NamedTuple):
    """A card on the timeline. `until` is the moment at which another card takes over, where one does."""

    record: CardRecord
    phase: Phase
    until: datetime | None


class DraftNeighbours(NamedTuple):
    """Where a draft would come to stand: the card that it displaces, and the card that takes over from it."""

    displaced: PublishedCard | None
    successor: PublishedCard | None


def timeline(records: Iterable[CardRecord], now: datetime) -> list[Span]:
    """The cards of one scope, in the order in which they begin."""
    ordered = sorted(records, key=lambda each: (each.published.card.effective_from, each.published.version))
    good = _that_count([each.published for each in ordered])
    return [_span(record, good, now) for record in ordered]


def place_of(draft: RateCard, cards: Iterable[PublishedCard]) -> DraftNeighbours:
    """`cards` are of the draft's scope."""
    start = draft.effective_from
    good = _that_count(sorted(cards, key=lambda each: (each.card.effective_from, each.version)))
    before = [each for each in good if each.card.effective_from <= start]
    after = [each for each in good if each.card.effective_from > start]
    return DraftNeighbours(before[-1] if before else None, after[0] if after else None)


def next_of(book: CardBook, scope: str, now: datetime) -> PublishedCard | None:
    """The card that takes over next in the scope."""
    good = _that_count(book.by_start(scope))
    return next((each for each in good if each.card.effective_from > now), None)


def _that_count(ordered: Iterable[PublishedCard]) -> list[PublishedCard]:
    """The cards that are in force at some time: for each start the last published card, and none withdrawn."""
    by_start = {each.card.effective_from: each for each in ordered if each.state is not CardState.WITHDRAWN}
    return list(by_start.values())


def _span(record: CardRecord, good: list[PublishedCard], now: datetime) -> Span:
    published = record.published
    if published.state is CardState.WITHDRAWN:
        return Span(record, Phase.WITHDRAWN, None)
    if published not in good:
        return Span(record, Phase.SUPERSEDED, None)
    start = published.card.effective_from
    until = next((each.card.effective_from for each in good if each.card.effective_from > start), None)
    if start > now:
        return Span(record, Phase.SCHEDULED, until)
    return Span(record, Phase.PAST if until is not None and until <= now else Phase.IN_FORCE, until)
