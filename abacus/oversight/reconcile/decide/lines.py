"""What an account counts: groups with the same facts, and the lines that they are added to. Pure values."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from abacus.oversight.reconcile.decide.verdict import Ask, Facts, Verdict


class Group(NamedTuple):
    """The messages of one partition and source that have the same facts."""

    partition: int
    source: str
    facts: Facts
    messages: int
    points: int  # of the transfers under their keys


class AskGroup(NamedTuple):
    """The awards that one partner requested, or one campaign or journey sent, and that have the same facts."""

    by: str
    ask: Ask
    awards: int
    points: int


class Posted(NamedTuple):
    """Transfers of the window, of one kind and origin."""

    kind: str
    origin: str
    transfers: int
    points: int


class Published(NamedTuple):
    """The transfers of the window, compared with the points topic."""

    transfers: int
    there: int  # of these on the topic
    again: int  # events that tell of a transfer once more
    not_yet: int  # the relay has not come to these
    missing: int
    unknown: int  # events of the window that tell of no such transfer, or otherwise than the ledger
    unreadable: int


class Actions(NamedTuple):
    """The actions of one kind that a campaign, or a journey, decided in the window, and what became of them. Only what
    journeys decided may be set aside.
    """

    owner: str
    kind: str
    decided: int
    delivered: int
    waiting: int
    refused: int
    set_aside: int = 0


def added(actions: Iterable[Actions]) -> list[Actions]:
    """Of one owner and kind together, in their order."""
    sums: dict[tuple[str, str], tuple[int, ...]] = {}
    for owner, kind, *counts in actions:
        before = sums.get((owner, kind), (0,) * len(counts))
        sums[owner, kind] = tuple(map(sum, zip(before, counts, strict=True)))
    return [Actions(*of, *sums[of]) for of in sorted(sums)]


class Totals(NamedTuple):
    """A campaign since it began: claimed events, and events with an outcome; the points of the outcomes, and of its
    awards.
    """

    campaign: str
    claims: int
    events: int
    points: int
    awarded: int


@dataclass(slots=True)
class SourceAccount:
    """The verdicts of the messages of a partition or source, or of a partner's requests."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    points: int = 0

    @property
    def total(self) -> int:
        return self.verdicts.total()

    def add(self, verdict: Verdict, count: int, points: int) -> None:
        self.verdicts[verdict] += count
        if verdict in {Verdict.AWARDED, Verdict.DOUBLED}:
            self.points += points


class ReadPartition(NamedTuple):
    """The messages that were read of a partition, counted by the reader and not by the account."""

    partition: int
    first: int
    after: int
    messages: int
    forgotten: bool  # the topic no longer has what came before `first`


class ComparedCounts(NamedTuple):
    """Two counts of the same messages, obtained in different ways."""

    what: str
    counted: int
    against: str
    other: int
