"""What is known of the partners in a batch: read under their lock, written back with the batch."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import asyncpg

from abacus.core.ids import award_id
from abacus.ledger.decide.allowance import Allowance, Spending, Standing
from abacus.ledger.types.award import Award
from abacus.ledger.types.limits import Limits, MemberDay, Rejection, RejectionReason
from abacus.platform.postgres import Connection

# Whoever holds a partner's row has its member days and rejections to itself.
_LOCK: Final = """
select partner_id, per_award, per_member_day, per_day, in_total, used, day, used_that_day
from allowance where partner_id = any($1::text[]) order by partner_id for update
"""

_MEMBER_DAYS: Final = """
select m.member_id, m.partner_id, m.day, m.used
from unnest($1::text[], $2::text[], $3::date[]) as u (member_id, partner_id, day)
join allowance_member m on m.member_id = u.member_id and m.partner_id = u.partner_id and m.day = u.day
"""

REJECTION_COLUMNS: Final = ", ".join(Rejection._fields)
_REJECTIONS: Final = f"select {REJECTION_COLUMNS} from rejection where key = any($1::text[])"

_SPEND: Final = """
update allowance a set used = u.used, day = u.day, used_that_day = u.used_that_day
from unnest($1::text[], $2::bigint[], $3::date[], $4::bigint[]) as u (partner_id, used, day, used_that_day)
where a.partner_id = u.partner_id
"""

_SPEND_ON_MEMBER: Final = """
insert into allowance_member as m (member_id, partner_id, day, used)
select * from unnest($1::text[], $2::text[], $3::date[], $4::bigint[])
on conflict (member_id, partner_id, day) do update set used = excluded.used
"""

_KNOWN: Final = "select award_id from partner_award where award_id = any($1::uuid[])"

# An award that was accepted while the database was away may have no entry yet.
_REGISTER: Final = """
insert into partner_award (award_id, partner_id, key, member_id, program, country, points, occurred_at, expires_on,
    activity, fingerprint, explanation, lifetime, asked_at, queued_at)
select u.*, $14, $14 from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[],
    $8::timestamptz[], $9::date[], $10::boolean[], $11::text[], $12::json[], $13::boolean[]) as u
order by 1
on conflict do nothing
"""


async def lock_standing(connection: Connection, partners: Mapping[str, Sequence[Award]], now: datetime) -> Standing:
    """The allowances of the partners, locked; the members' use of them today, and which awards were rejected before."""
    today = now.astimezone(UTC).date()
    allowances = {
        row[0]: Allowance(Limits(*row[1:5]), *row[5:]) for row in await connection.fetch(_LOCK, list(partners))
    }
    asked = list(
        dict.fromkeys(
            MemberDay(award.member_id, partner_id, allowances[partner_id].on(today).day)
            for partner_id, awards in partners.items()
            if partner_id in allowances
            for award in awards
        )
    )
    rows = await connection.fetch(
        _MEMBER_DAYS, [each.member_id for each in asked], [each.partner_id for each in asked], [e.day for e in asked]
    )
    keys = [award.key for awards in partners.values() for award in awards]
    rejections = [rejection_of(row) for row in await connection.fetch(_REJECTIONS, keys)]
    return Standing(
        allowances,
        {MemberDay(*row[:3]): row[3] for row in rows},
        {rejection.key: rejection for rejection in rejections},
    )


async def write_spending(
    connection: Connection,
    partners: Mapping[str, Sequence[Award]],
    spending: Spending,
    rejections: Sequence[Rejection],
    now: datetime,
) -> None:
    changed = list(spending.allowances.items())
    if changed:
        await connection.execute(
            _SPEND,
            [partner_id for partner_id, _ in changed],
            [allowance.used for _, allowance in changed],
            [allowance.day for _, allowance in changed],
            [allowance.used_that_day for _, allowance in changed],
        )
        days = sorted(spending.member_days.items())
        await connection.execute(
            _SPEND_ON_MEMBER,
            [day.member_id for day, _ in days],
            [day.partner_id for day, _ in days],
            [day.day for day, _ in days],
            [used for _, used in days],
        )
    if rejections:
        await connection.copy_records_to_table("rejection", records=rejections, columns=Rejection._fields)
    asked = {award_id(award.key): (partner_id, award) for partner_id, awards in partners.items() for award in awards}
    for row in await connection.fetch(_KNOWN, list(asked)):
        asked.pop(row["award_id"])
    if asked:
        await connection.execute(_REGISTER, *asked_columns((id_, *each) for id_, each in asked.items()), now)


def asked_columns(asked: Iterable[tuple[UUID, str, Award]]) -> list[list[object]]:
    """Awards that partners asked for, by award id and partner, as the columns of `partner_award`."""
    rows = [
        (
            id_,
            partner_id,
            award.key,
            award.member_id,
            award.program,
            award.country,
            award.points,
            award.occurred_at,
            award.expires_on,
            award.activity,
            award.fingerprint,
            award.explanation,
            award.lifetime,
        )
        for id_, partner_id, award in asked
    ]
    return [list(column) for column in zip(*rows, strict=True)]


def rejection_of(row: asyncpg.Record) -> Rejection:
    key, member_id, program, points, fingerprint, reason, detail, rejected_at = row
    return Rejection(key, member_id, program, points, fingerprint, RejectionReason(reason), detail, rejected_at)
