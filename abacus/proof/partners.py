"""The allowances of partners, beside the transfers that count against them."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple, Self, TypeAlias

from abacus.core.sources import partner_of, source_sql
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.decide.budgets import added_up
from abacus.ledger.store.allowances import parts_on, wholes_on
from abacus.ledger.types.transfer import Transfer
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns
from abacus.proof.decide.counted import (
    NOTHING,
    Counted,
    Original,
    fault_of_day,
    faults_of_allowance,
    own_points,
    use_of,
)
from abacus.proof.decide.report import HouseFault, Of, Report
from abacus.proof.decide.seal import is_whole
from abacus.proof.parts import Findings, Members, Span
from abacus.proof.sight import Pager, Sight


class _MemberDay(NamedTuple):
    """A row of `allowance_member`."""

    member_id: str
    partner_id: str
    day: date
    used: int


_PARTNERS: Final = "select partner_id, created_at from partner"
_ORIGINALS: Final = Statement(f"""
select t.key, t.kind, {source_sql("t")} as source, t.posted_at from claim c
join transfer t on t.member_id = c.member_id and t.program = c.program and t.seq = c.seq
where c.key = any(:keys::text[])
""")


# When a partner was registered, and the last day of its allowance, or of the slice's part of it.
_Known: TypeAlias = Mapping[str, tuple[datetime | None, date | None]]


class Partners:
    """The points that the partners gave the members of a span, as far as it has been followed."""

    def __init__(self, connection: Connection, span: Span, known: _Known) -> None:
        query = Statement(f"""
            select {columns(_MemberDay, "d")} from allowance_member d where {span.where("d")}
            order by d.member_id, d.partner_id, d.day
        """)
        self._connection = connection
        self._known = known
        self._rows = Pager(_MemberDay, connection, *query(**span.parameters))
        self._days: dict[tuple[str, str, date], Counted] = {}

    @classmethod
    async def of(cls, connection: Connection, sight: Sight, part: Members) -> Self:
        registered = dict(await sight.shared.fetch(_PARTNERS))
        allowances = await parts_on(connection)
        known = {
            partner_id: (registered.get(partner_id), allowances[partner_id].day if partner_id in allowances else None)
            for partner_id in registered.keys() | allowances.keys()
        }
        return cls(connection, part.span, known)

    async def follow(self, transfers: Sequence[Transfer], findings: Findings) -> None:
        """Count these transfers, whose members come in order."""
        originals = await self._originals(transfers)
        for transfer in transfers:
            partner_id = partner_of(transfer.known_source)
            registered_at, last_day = self._known.get(partner_id or "", (None, None))
            use = use_of(transfer, registered_at, originals.get(transfer.reverses or ""))
            if use is None:
                continue
            findings.used[use.partner_id] = findings.used.get(use.partner_id, NOTHING).plus(use.points)
            for day, points in use.days.items():
                place = (transfer.member_id, use.partner_id, day)
                self._days[place] = self._days.get(place, NOTHING).plus(points)
                if last_day is not None and day >= last_day:
                    at = (use.partner_id, day)
                    findings.used_on[at] = findings.used_on.get(at, NOTHING).plus(points)

    async def up_to(self, member_id: str | None, report: Report) -> None:
        """Compare the days of the members before this one, or of all that are left."""
        recorded: dict[tuple[str, str, date], int] = {}
        while (row := await self._rows.peek()) is not None and (member_id is None or row.member_id < member_id):
            await self._rows.take()
            recorded[row[:3]] = row.used
        over = {place for place in self._days if member_id is None or place[0] < member_id}
        for place in sorted(recorded.keys() | over):
            member, partner_id, day = place
            fault = fault_of_day(member, day, recorded.get(place, 0), self._days.pop(place, NOTHING))
            if fault is not None:
                report.note(HouseFault(Of.PARTNER, partner_id, fault))

    async def _originals(self, transfers: Sequence[Transfer]) -> dict[str, Original]:
        """What the partners among them took back, by key."""
        keys = [each.reverses for each in transfers if partner_of(each.known_source) and own_points(each)]
        rows = await self._connection.fetch(*_ORIGINALS(keys=keys)) if keys else []
        return {key: Original(*original) for key, *original in rows}


async def compare_allowances(sight: Sight, findings: Findings) -> None:
    """Note the faults of the partners' allowances, once every transfer has been followed."""
    registered = {row["partner_id"] for row in await sight.shared.fetch(_PARTNERS)}
    in_slices = [await parts_on(await sight.ledger(number)) for number in sight.numbers]
    wholes = await wholes_on(sight.shared)
    allowances = wholes if is_whole(in_slices) else _together(wholes, in_slices)
    for number, parts in enumerate(in_slices):
        for partner_id in sorted(parts.keys() & wholes.keys()):
            if parts[partner_id].limits != wholes[partner_id].limits:
                findings.report.note(HouseFault(Of.PARTNER, partner_id, f"slice {number} has other limits than it"))
    for partner_id in sorted(registered | allowances.keys() | findings.used.keys()):
        days = {day: points for (whose, day), points in findings.used_on.items() if whose == partner_id}
        in_all = findings.used.get(partner_id, NOTHING)
        faults = faults_of_allowance(allowances.get(partner_id), in_all, days, registered=partner_id in registered)
        findings.report.note(*(HouseFault(Of.PARTNER, partner_id, fault) for fault in faults))


def _together(wholes: Mapping[str, Allowance], in_slices: Sequence[Mapping[str, Allowance]]) -> Mapping[str, Allowance]:
    """What each partner has awarded in all slices."""
    return {
        partner_id: added_up(whole, [parts[partner_id] for parts in in_slices if partner_id in parts])
        for partner_id, whole in wholes.items()
    }
