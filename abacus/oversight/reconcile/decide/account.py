"""The account of a window: verdicts counted by partition, source and partner, and whether the sums come out. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

from abacus.oversight.reconcile.decide.lines import (
    Actions,
    AskGroup,
    ComparedCounts,
    Group,
    Posted,
    Published,
    ReadPartition,
    SourceAccount,
    Totals,
)
from abacus.oversight.reconcile.decide.verdict import FAULTS, ON_THE_WAY, Queues, Verdict, verdict_of, verdict_of_ask

MOST_FINDINGS: Final = 1000


class Origin(StrEnum):
    """The source that a transfer goes back to."""

    WINDOW = "messages of the window"
    ELSEWHERE = "messages outside the window"  # sent before it and posted in it, or replayed from the quarantine
    PARTNERS = "partners"
    CAMPAIGNS = "campaigns"
    OFFERS = "offers"
    REWARDS = "rewards"
    JOURNEYS = "journeys"
    ITSELF = "no message"  # a month's end, or another transfer that no message requested
    NOWHERE = "without a source"


class Finding(StrEnum):
    """The kinds of findings; any of them keeps an account from coming out."""

    MISSING = "missing"
    DEAD_LETTER = "dead letter"
    DOUBLED = "doubled"
    UNCLAIMED = "transfer without a claim"
    WITHOUT_SOURCE = "transfer without a source"
    NOT_PUBLISHED = "missing on the points topic"
    UNKNOWN = "unknown on the points topic"
    OTHER_POINTS = "other points than were decided"
    OTHER_BASKET = "a transaction and its redemption do not agree"
    LOST_UNREAD = "gone before it was read"
    SUM = "the sum does not come out"


class NamedFault(NamedTuple):
    """A single fault: the key or other name, and the place."""

    what: Finding
    name: str
    where: str

    def __str__(self) -> str:
        return f"{self.what}: {self.name} ({self.where})"


class Window(NamedTuple):
    """The window that is accounted for, and the moment of the account."""

    start: datetime
    end: datetime
    as_of: datetime
    transactions_topic: str
    points_topic: str


@dataclass(slots=True)
class Account:
    """Counts the facts that it is given, and says at the end whether they come out."""

    window: Window
    queues: Queues
    partitions: dict[int, SourceAccount] = field(default_factory=dict)
    sources: dict[str, SourceAccount] = field(default_factory=dict)
    partners: dict[str, SourceAccount] = field(default_factory=dict)
    campaigns: dict[str, SourceAccount] = field(default_factory=dict)
    actions: list[Actions] = field(default_factory=list)
    journeys: dict[str, SourceAccount] = field(default_factory=dict)
    journey_actions: list[Actions] = field(default_factory=list)
    visits: list[ComparedCounts] = field(default_factory=list)
    totals: list[Totals] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    reads: list[ReadPartition] = field(default_factory=list)
    posted: list[Posted] = field(default_factory=list)
    published: Published = field(default_factory=lambda: Published(0, 0, 0, 0, 0, 0, 0))
    sums: list[ComparedCounts] = field(default_factory=list)
    offers: list[ComparedCounts] = field(default_factory=list)
    grants: list[ComparedCounts] = field(default_factory=list)
    findings: list[NamedFault] = field(default_factory=list)
    more_findings: int = 0

    def add_messages(self, groups: Iterable[Group]) -> None:
        for group in groups:
            verdict = verdict_of(group.facts, self.queues)
            self.partitions.setdefault(group.partition, SourceAccount()).add(verdict, group.messages, group.points)
            self.sources.setdefault(group.source, SourceAccount()).add(verdict, group.messages, group.points)
            if verdict is Verdict.QUARANTINED and group.facts.held is not None:
                self.reasons[group.facts.held] += group.messages

    def add_asks(self, lines: dict[str, SourceAccount], groups: Iterable[AskGroup]) -> None:
        """Add awards to the lines of partners, of campaigns, or of journeys."""
        for group in groups:
            verdict = verdict_of_ask(group.ask, self.queues)
            lines.setdefault(group.by, SourceAccount()).add(verdict, group.awards, group.points)

    def found(self, finding: NamedFault) -> None:
        """Name a finding. At most a thousand are named; the rest is counted."""
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(finding)
        else:
            self.more_findings += 1

    def found_of(self, in_all: int, findings: Iterable[NamedFault]) -> None:
        """Name these findings, out of `in_all`."""
        named = 0
        for finding in findings:
            self.found(finding)
            named += 1
        self.more_findings += max(0, in_all - named)

    @property
    def messages(self) -> int:
        """The number of messages that the reader has read."""
        return sum(read.messages for read in self.reads)

    @property
    def verdicts(self) -> Counter[Verdict]:
        return sum((line.verdicts for line in self.partitions.values()), Counter[Verdict]())

    @property
    def asks(self) -> Counter[Verdict]:
        """Of partners, campaigns and journeys."""
        lines = [*self.partners.values(), *self.campaigns.values(), *self.journeys.values()]
        return sum((line.verdicts for line in lines), Counter[Verdict]())

    @property
    def on_the_way(self) -> int:
        """Messages and awards that have not come to their end, and transfers that wait to be published."""
        both = self.verdicts + self.asks
        return sum(both[verdict] for verdict in ON_THE_WAY) + self.published.not_yet

    @property
    def whole(self) -> bool:
        """Whether the topic has kept all that the window can have held."""
        return not any(read.forgotten for read in self.reads)

    @property
    def comes_out(self) -> bool:
        """Whether there is no fault. A message that is still on its way is none."""
        at_fault = self.verdicts + self.asks
        return not self.findings and not any(at_fault[verdict] for verdict in FAULTS)

    def close(self, committed: Mapping[int, int]) -> None:
        """Compare the sums with counts obtained in another way, and name the findings that no statement has named
        yet.
        """
        for read in self.reads:
            line = self.partitions.get(read.partition, SourceAccount())
            if line.total != read.messages:
                self._compare(
                    ComparedCounts(
                        f"messages read of partition {read.partition}", read.messages, "verdicts", line.total
                    )
                )
            if read.forgotten and committed.get(read.partition, 0) < read.first:
                where = f"offsets {committed.get(read.partition, 0)} to {read.first - 1}"
                self.found(NamedFault(Finding.LOST_UNREAD, f"partition {read.partition}", where))
        told, transfers = self.published, sum(each.transfers for each in self.posted)
        on_topic = told.there + told.not_yet + told.missing
        self._compare(ComparedCounts("messages read", self.messages, "verdicts by partition", self.verdicts.total()))
        by_source = sum(line.total for line in self.sources.values())
        self._compare(ComparedCounts("messages read", self.messages, "verdicts by source", by_source))
        self._compare(ComparedCounts("transfers", transfers, "published, not yet published and missing", on_topic))
        self._compare_campaigns()
        self._compare_actions("journeys", self.journey_actions)
        for each in (*self.visits, *self.offers, *self.grants):
            self._compare(each)

    def _compare_campaigns(self) -> None:
        self._compare_actions("campaigns", self.actions)
        for each in self.totals:
            if each.claims != each.events:
                self._compare(
                    ComparedCounts(f"events of the campaign {each.campaign}", each.claims, "outcomes", each.events)
                )
            if each.awarded != each.points:
                self._compare(
                    ComparedCounts(
                        f"points of the campaign {each.campaign}", each.points, "in its awards", each.awarded
                    )
                )
        if self.totals:
            claims, events = sum(each.claims for each in self.totals), sum(each.events for each in self.totals)
            points, awarded = sum(each.points for each in self.totals), sum(each.awarded for each in self.totals)
            self._compare(ComparedCounts("events of campaigns since they began", claims, "outcomes", events))
            self._compare(ComparedCounts("points of campaigns since they began", points, "in their awards", awarded))

    def _compare_actions(self, of: str, actions: Sequence[Actions]) -> None:
        if actions:
            decided = sum(each.decided for each in actions)
            ended = sum(each.delivered + each.waiting + each.refused + each.set_aside for each in actions)
            aside = any(each.set_aside for each in actions)
            ends = "delivered, waiting, refused and set aside" if aside else "delivered, waiting and refused"
            self._compare(ComparedCounts(f"actions of {of}", decided, ends, ended))

    def _compare(self, both: ComparedCounts) -> None:
        self.sums.append(both)
        if both.counted != both.other:
            self.found(NamedFault(Finding.SUM, both.what, f"{both.counted}, but {both.other} {both.against}"))
