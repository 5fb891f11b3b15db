"""What publishing a draft card changes: against the card that it displaces on its first day, until another takes over.
Pure.
"""

from collections.abc import Iterable
from typing import NamedTuple

from abacus.pricing.decide.card import PublishedCard, RateCard
from abacus.pricing.decide.diff import describe_changes
from abacus.pricing.decide.timeline import place_of


class Displacement(NamedTuple):
    """The names of the card before and of the card after, where there are any. A published draft changes nothing."""

    against: str | None
    changes: list[str]
    until: str | None


def displacement(draft: RateCard, cards: Iterable[PublishedCard]) -> Displacement:
    """`cards` are those of the draft's scope."""
    displaced, successor = place_of(draft, cards)
    changes = describe_changes(displaced.card if displaced else None, draft)
    return Displacement(displaced.name if displaced else None, changes, successor.name if successor else None)
