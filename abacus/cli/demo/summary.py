"""The figures of the demo, as one document and as one table of 80 columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from abacus.cli.terminal.answer import Line, Table, counted, tell

_WIDEST: Final = 60  # a cell of the table


@dataclass(slots=True)
class Summary:
    """The fields are the keys of `--json`."""

    transactions: int
    awarded: int
    points: int
    duplicates: int
    retried: int
    quarantined: int
    elapsed_s: float
    transactions_per_s: float
    points_per_s: float
    p50_ms: float
    p99_ms: float
    expired_members: int
    expired_points: int
    tier_changes: int
    notifications: int
    counters: Mapping[str, int] | None  # by key; nothing where nobody counted, or the stream is longer than is kept
    campaigns: Mapping[str, Mapping[str, int]]  # by name: all events, events at which something was done, points
    journeys: Mapping[str, Mapping[str, int]]  # by name: members who entered and who left, messages and awards
    series: Mapping[str, int]  # by key: what the slots of a series add up to
    places: Mapping[str, int]  # regions in force, and shops
    offers: Mapping[str, int]  # reserved, redeemed, of these by code, rolled back, and the points that they gave
    rewards: Mapping[str, int]  # redeemed, returned, late, and the points that they cost
    pending_points: int  # they vest later
    documents: Mapping[str, int]  # files of an export, and changes that applying them would make
    ledger_verified: bool
    reconciled: bool | None  # nothing where the stream is longer than the embedded broker keeps

    @property
    def is_accounted_for(self) -> bool:
        return self.ledger_verified and self.reconciled is True

    @property
    def is_at_fault(self) -> bool:
        return not self.ledger_verified or self.reconciled is False


def show(summary: Summary, title: str, reasons: Mapping[str, int], explanations: Sequence[str] = ()) -> None:
    verdict = Line("every point accounted for", "bold green") if summary.is_accounted_for else _doubt(summary)
    tell(Table(title, ["what", "result"], list(_rows(summary, reasons))), verdict, *explanations)


def _rows(of: Summary, reasons: Mapping[str, int]) -> Iterator[Sequence[str]]:
    came_to = f"{of.awarded:,} awarded, {of.duplicates:,} again, {of.quarantined:,} set aside"
    yield "transactions", f"{of.transactions:,}: {came_to}"
    if of.retried:
        yield "retried", f"{of.retried:,}"
    if reasons:
        yield "set aside", _cut([f"{count:,} {reason}" for reason, count in reasons.items()])
    yield "points", f"{of.points:,}; {of.points_per_s:,.0f} points/s"
    yield "speed", f"{of.transactions_per_s:,.0f} transactions/s; median {of.p50_ms:.0f} ms, p99 {of.p99_ms:.0f} ms"
    yield "lapsed", f"{counted(of.expired_points, 'point')} of {counted(of.expired_members, 'member')}"
    yield "tiers", f"{counted(of.tier_changes, 'change')}; {counted(of.notifications, 'message')} to members"
    if of.counters:
        yield "counters", _cut([f"{count:,} {key.removeprefix('demo:')}" for key, count in of.counters.items()])
    done = [sum(each[name] for each in of.campaigns.values()) for name in ("points", "done", "events")]
    yield "campaigns", f"{len(of.campaigns)}: {done[0]:,} points, {done[1]:,} of {done[2]:,} events"
    for name, journey in of.journeys.items():
        went, given = f"{journey['entered']:,} entered, {journey['left']:,} left", counted(journey["awards"], "award")
        yield "journey", f"{name}: {went}; {counted(journey['messages'], 'message')}, {given}"
    yield "series", _cut([f"{count:,} {key.removeprefix('demo:')}" for key, count in of.series.items()])
    places, offers, rewards = of.places, of.offers, of.rewards
    yield "places", f"{counted(places['regions'], 'region')}, {counted(places['shops'], 'shop')}"
    taken = f"{offers['redeemed']:,} redeemed, {offers['by_code']:,} by code, {offers['rolled_back']:,} rolled back"
    yield "offers", f"{taken}; {counted(offers['points'], 'point')}"
    bought = f"{rewards['redeemed']:,} for {counted(rewards['points'], 'point')}, {rewards['returned']:,} returned"
    yield "rewards", f"{bought}, {rewards['late']:,} late; {counted(of.pending_points, 'point')} vest later"
    written = of.documents
    yield "documents", f"{written['exported']:,} exported; applied again, {written['changed_by_apply']:,} change"
    yield "ledger", "verified" if of.ledger_verified else "NOT VERIFIED"
    yield "messages", {True: "reconciled", False: "NOT RECONCILED", None: "too many to keep"}[of.reconciled]


def _doubt(summary: Summary) -> Line:
    if summary.is_at_fault:
        return Line("NOT every point is accounted for; see `abacus ledger verify` and `abacus reconcile`", "bold red")
    return Line("the ledger is verified; the broker no longer has all messages to reconcile it with", "yellow")


def _cut(parts: Sequence[str]) -> str:
    """As many as a cell has room for."""
    for shown in range(len(parts), 0, -1):
        rest = len(parts) - shown
        text = ", ".join(parts[:shown]) + (f", and {rest} more" if rest else "")
        if len(text) <= _WIDEST:
            return text
    return counted(len(parts), "kind")
