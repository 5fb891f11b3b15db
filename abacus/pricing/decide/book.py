"""The published cards in memory, and which of them is in force when. Pure."""

from bisect import bisect_right
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, NamedTuple

from abacus.core.errors import Reason, SetAside, Unavailable, absent
from abacus.pricing.decide.card import CardState, PublishedCard

DEPENDENCY: Final = "rate cards"


class CardBook:
    """A set of published cards, arranged once, because every transaction looks its card up.

    Each look-up gives the very object that the book was built from: callers may keep values worked out for a card by
    its identity.
    """

    __slots__ = ("_by_name", "_by_scope")

    def __init__(self, cards: Iterable[PublishedCard]) -> None:
        ordered = sorted(cards, key=lambda published: (published.card.effective_from, published.version))
        by_scope: dict[str, list[PublishedCard]] = {}
        for published in ordered:
            if published.state is not CardState.WITHDRAWN:
                by_scope.setdefault(published.card.scope, []).append(published)
        self._by_name = {published.name: published for published in ordered}
        self._by_scope = {scope: _Line.of(line) for scope, line in by_scope.items()}

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, scope_or_name: str) -> bool:
        return scope_or_name in self._by_scope or scope_or_name in self._by_name

    def in_force(self, scope: str, at: datetime) -> PublishedCard:
        """The card with the latest `effective_from` not after `at`; of several, the one published last.

        Raises `SetAside` when the scope has no card (`UNKNOWN_COUNTRY`), or none that early (`NO_CARD_IN_FORCE`), and
        `Unavailable` for a time from which on a card may be in force that can still be withdrawn: the cards have to be
        read again first, nearer to that time.
        """
        line = self._by_scope.get(scope)
        if line is None:
            raise SetAside(Reason.UNKNOWN_COUNTRY, f"no rate card has the scope {scope!r}")
        last_start, last, open_from, starts, cards = line
        if at >= last_start and (open_from is None or at < open_from):
            return last
        if open_from is not None and at >= open_from:
            raise Unavailable(DEPENDENCY, f"a card of {scope} that begins at {open_from.isoformat()} is not final yet")
        index = bisect_right(starts, at)
        if not index:
            raise _too_early(scope, at, cards[0])
        return cards[index - 1]

    def expected(self, scope: str, at: datetime) -> PublishedCard:
        """The card that will be in force then, if none is published or withdrawn until then. For foresight: nothing is
        awarded by it. Raises `SetAside` as `in_force` does.
        """
        line = self._by_scope.get(scope)
        if line is None:
            raise SetAside(Reason.UNKNOWN_COUNTRY, f"no rate card has the scope {scope!r}")
        index = bisect_right(line.starts, at)
        if not index:
            raise _too_early(scope, at, line.cards[0])
        return line.cards[index - 1]

    def covers(self, scope: str, at: datetime) -> bool:
        """Whether a card of the scope is, or will be, in force then."""
        try:
            self.expected(scope, at)
        except SetAside:
            return False
        return True

    def by_name(self, name: str) -> PublishedCard:
        """The card that an explanation names, say "SG@7". Raises `Refused` when there is none."""
        published = self._by_name.get(name)
        if published is None:
            raise absent("rate card", name, "`abacus rates timeline` prints all versions")
        return published

    def scopes(self) -> list[str]:
        return sorted(self._by_scope)

    def countries(self) -> list[str]:
        """The scopes of countries, without partners' scopes."""
        return [scope for scope in self.scopes() if not scope.startswith("partner:")]

    def of_countries(self, now: datetime) -> dict[str, PublishedCard]:
        """The card of each country that has one in force."""
        cards = {}
        for country in self.countries():
            with suppress(SetAside, Unavailable):
                cards[country] = self.in_force(country, now)
        return cards

    def by_start(self, scope: str) -> list[PublishedCard]:
        """The cards of the scope that are not withdrawn, in the order in which they begin."""
        line = self._by_scope.get(scope)
        return list(line.cards) if line else []

    def versions(self, scope: str) -> list[PublishedCard]:
        """The cards of the scope that are not withdrawn, in the order of publishing."""
        return sorted(self.by_start(scope), key=lambda published: published.version)


class _Line(NamedTuple):
    """The cards of a scope in the order of their starts. The last final card and its start stand apart: nearly every
    transaction is newer than it. Starts are in UTC, as transactions are: times in one zone compare the quickest.
    """

    last_start: datetime
    last: PublishedCard
    open_from: datetime | None  # the start of the first card that is not final: all final cards begin earlier
    starts: list[datetime]
    cards: list[PublishedCard]

    @classmethod
    def of(cls, cards: list[PublishedCard]) -> "_Line":
        starts = [published.card.effective_from.astimezone(UTC) for published in cards]
        final = sum(published.state is CardState.FINAL for published in cards)
        open_from = starts[final] if final < len(cards) else None
        return cls(starts[max(final - 1, 0)], cards[max(final - 1, 0)], open_from, starts, cards)


def _too_early(scope: str, at: datetime, first: PublishedCard) -> SetAside:
    return SetAside(
        Reason.NO_CARD_IN_FORCE,
        f"{at.isoformat()} is before the first rate card of {scope}, {first.name}, "
        f"in force from {first.card.effective_from.isoformat()}",
    )
