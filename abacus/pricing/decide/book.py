"""The published cards in memory, and which of them is in force when. Pure."""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime

from abacus.core.errors import Reason, Refused, SetAside
from abacus.pricing.decide.card import PublishedCard


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
            by_scope.setdefault(published.card.scope, []).append(published)
        self._by_name = {published.name: published for published in ordered}
        # The last start and card stand apart: nearly every transaction is newer than the newest card. Starts are in
        # UTC, as transactions are: times in one zone compare the quickest.
        self._by_scope = {
            scope: (_start(line[-1]), line[-1], [_start(each) for each in line], line)
            for scope, line in by_scope.items()
        }

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, scope_or_name: str) -> bool:
        return scope_or_name in self._by_scope or scope_or_name in self._by_name

    def in_force(self, scope: str, at: datetime) -> PublishedCard:
        """The card with the latest `effective_from` not after `at`; of several, the one published last.

        Raises `SetAside` when the scope has no card (`UNKNOWN_COUNTRY`), or none that early (`NO_CARD_IN_FORCE`).
        """
        entry = self._by_scope.get(scope)
        if entry is None:
            raise SetAside(Reason.UNKNOWN_COUNTRY, f"no rate card has the scope {scope!r}")
        last_start, last, starts, line = entry
        if at >= last_start:
            return last
        index = bisect_right(starts, at)
        if not index:
            first = line[0]
            raise SetAside(
                Reason.NO_CARD_IN_FORCE,
                f"{at.isoformat()} is before the first rate card of {scope}, {first.name}, "
                f"in force from {first.card.effective_from.isoformat()}",
            )
        return line[index - 1]

    def covers(self, scope: str, at: datetime) -> bool:
        """Whether a card of the scope is in force then."""
        try:
            self.in_force(scope, at)
        except SetAside:
            return False
        return True

    def by_name(self, name: str) -> PublishedCard:
        """The card that an explanation names, say "SG@7". Raises `Refused` when there is none."""
        published = self._by_name.get(name)
        if published is None:
            raise Refused(f"no rate card is named {name!r}; `abacus rates list` prints all names")
        return published

    def scopes(self) -> list[str]:
        return sorted(self._by_scope)

    def countries(self) -> list[str]:
        """The scopes of countries, without those of partners."""
        return [scope for scope in self.scopes() if not scope.startswith("partner:")]

    def versions(self, scope: str) -> list[PublishedCard]:
        """Every version of the scope in the order of publishing; none for a scope without a card."""
        entry = self._by_scope.get(scope)
        return sorted(entry[3], key=lambda published: published.version) if entry else []


def _start(published: PublishedCard) -> datetime:
    return published.card.effective_from.astimezone(UTC)
