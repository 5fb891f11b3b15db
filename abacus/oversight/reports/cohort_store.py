"""The points of each month, by what became of them: spent, expired, taken back, or still there.

Points leave oldest first. Lay an account's credits end to end, and beside them its debits: the piece of a debit that
lies beside a credit took its points from there. Points that a debit took from one credit by name (`draw`) are left out
of both lines and added as they stand. A debit beyond the last credit took points that are not there: the member owes
them.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Final

from abacus.ledger.types.kinds import TransferKind
from abacus.oversight.reports.decide.by import NOT_NAMED, By, columns
from abacus.oversight.reports.decide.cohort import OWED, Cohort, Piece, arranged
from abacus.oversight.reports.decide.rollforward import OF_KIND
from abacus.oversight.reports.homes import Homes
from abacus.platform import slices
from abacus.platform.postgres import LONG_S, Connection
from abacus.platform.sql import Statement


def _column_by_kind(columns_of: Mapping[TransferKind, str | None]) -> str:
    """The column of a transfer's points. A kind without one stays as it is, which is no column and fails the report."""
    cases = " ".join(f"when '{kind}' then '{name}'" for kind, name in columns_of.items() if name is not None)
    return f"case t.kind {cases} else t.kind end"


_CAME: Final = _column_by_kind({kind: each.came for kind, each in OF_KIND.items()})
_WENT: Final = _column_by_kind({kind: each.went for kind, each in OF_KIND.items()})

# The facts of a credit that its label holds, and the value of each where points went that no credit brought.
_CREDITED: Final = {"tier": NOT_NAMED, "partner": NOT_NAMED, "source": NOT_NAMED, "month": OWED, "came": ""}
_BETWEEN: Final = "chr(31)"  # no name holds a control character
_CREDIT: Final = f" || {_BETWEEN} || ".join(f"b.{name}" for name in _CREDITED)


def _field(place: int, none: str) -> str:
    return f"coalesce(split_part(came, {_BETWEEN}, {place}), '{none}')"


async def cohorts(connection: Connection, where: Homes, until: Sequence[datetime], by: Collection[By]) -> list[Cohort]:
    """The cohorts of all postings before these moments, one for each country."""
    statement = _statement(by)(countries=where.countries, zones=where.zone_names, until=until)
    rows = await slices.rows_on(connection, statement, within_s=LONG_S)
    return arranged([Piece(*row) for row in rows], by)


def _statement(by: Collection[By]) -> Statement:
    # A credit's label begins with its number, so that the least of several labels is the first credit's. What is named
    # and used more than once is not materialized: Postgres would read it in one process, and keep a copy of the ledger.
    return Statement(f"""
    with home as not materialized (
        select * from unnest(:countries::text[], :zones::text[], :until::timestamptz[]) as h (country, zone, until)
    ), booked as not materialized (
        select t.member_id, t.program, t.seq, t.points, {columns(by)}, {_WENT} as went, {_CAME} as came,
            to_char(t.posted_at at time zone h.zone, 'YYYY-MM') as month
        from transfer t
        join account a on a.member_id = t.member_id and a.program = t.program
        join home h on h.country = a.country
        where t.points <> 0 and t.posted_at < h.until
    ), named as not materialized (
        select d.member_id, d.program, d.lot_seq, d.seq, d.points
        from draw d
        join transfer t on t.member_id = d.member_id and t.program = d.program and t.seq = d.seq
        join account a on a.member_id = d.member_id and a.program = d.program
        join home h on h.country = a.country
        where t.posted_at < h.until
    ), off as (
        select member_id, program, seq, sum(points)::bigint as points
        from (
            select member_id, program, lot_seq as seq, points from named
            union all
            select member_id, program, seq, points from named
        ) as either
        group by member_id, program, seq
    ), line as (
        select b.member_id, b.program, b.country, b.points > 0 as credit,
            lpad(b.seq::text, 19, '0') || '|' || case when b.points > 0 then {_CREDIT} else b.went end as label,
            (sum(abs(b.points) - coalesce(o.points, 0)) over (
                partition by b.member_id, b.program, b.points > 0 order by b.seq
            ))::bigint as upto,
            abs(b.points) - coalesce(o.points, 0) as points
        from booked b
        left join off o on o.member_id = b.member_id and o.program = b.program and o.seq = b.seq
    ), piece as (
        select program, country, min(label collate "C") filter (where credit) over beyond as came,
            min(label collate "C") filter (where not credit) over beyond as went,
            upto - coalesce(lead(upto) over beyond, 0) as points
        from line
        where points > 0
        window beyond as (partition by member_id, program order by upto desc)
    ), found as (
        select program, country, substr(came, 21) as came, substr(went, 21) as went, points
        from piece
        where points > 0
        union all
        select b.program, b.country, {_CREDIT}, w.went, n.points
        from named n
        join booked b on b.member_id = n.member_id and b.program = n.program and b.seq = n.lot_seq
        join booked w on w.member_id = n.member_id and w.program = n.program and w.seq = n.seq
    ), summed as (
        select program, country, came, went, sum(points)::bigint as points
        from found
        group by program, country, came, went
    )
    select program, country, {", ".join(_field(place, none) for place, none in enumerate(_CREDITED.values(), 1))},
        coalesce(went, ''), points
    from summed
    """)
