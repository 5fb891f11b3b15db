"""The cards of one scope along time: which was in force, which is, which will be, and who published each. Pure."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from abacus.documents.types import Record
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import CardState, PublishedCard, RateCard


class Phase(StrEnum):
    """The part that a card plays at a time."""

    PAST = "past"
    IN_FORCE = "in force"
    SCHEDULED = "scheduled"
    SUPERSEDED = "superseded"  # another card that begins at the same moment was published later
    WITHDRAWN = "withdrawn"


class Span(NamedTuple):
    """A card on the timeline. `until` is the moment at which another card takes over, where one does."""

    record: Record[RateCard]
    published: PublishedCard
    phase: Phase
    until: datetime | None


class DraftNeighbours(NamedTuple):
    """Where a draft would come to stand: the card that it displaces, and the card that takes over from it."""

    displaced: PublishedCard | None
    successor: PublishedCard | None


def published_card(record: Record[RateCard]) -> PublishedCard:
    """With its state, by the clock of the database when it was read."""
    version = record.version
    state = CardState.FINAL if version.own.get("is_final") else CardState.OPEN
    return PublishedCard(record.document, version.number, state if version.withdrawal is None else CardState.WITHDRAWN)


def timeline(records: Iterable[Record[RateCard]], now: datetime) -> list[Span]:
    """The cards of one scope, in the order in which they begin."""
    ordered = sorted(records, key=lambda each: (each.document.effective_from, each.version.number))
    good = _that_count(map(published_card, ordered))
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


def _span(record: Record[RateCard], good: list[PublishedCard], now: datetime) -> Span:
    published = published_card(record)
    if published.state is CardState.WITHDRAWN:
        return Span(record, published, Phase.WITHDRAWN, None)
    if published not in good:
        return Span(record, published, Phase.SUPERSEDED, None)
    start = published.card.effective_from
    until = next((each.card.effective_from for each in good if each.card.effective_from > start), None)
    if start > now:
        return Span(record, published, Phase.SCHEDULED, until)
    return Span(record, published, Phase.PAST if until is not None and until <= now else Phase.IN_FORCE, until)
