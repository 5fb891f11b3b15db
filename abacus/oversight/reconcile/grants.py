"""What campaigns and journeys granted, held against the invitations and the redemptions that came of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from abacus.engage.actions.decide.deeds import DeedKind
from abacus.engage.actions.types import INVITATIONS, REDEMPTIONS
from abacus.engage.rewards.decide.redemption import Stage
from abacus.oversight.reconcile.decide.lines import ComparedCounts
from abacus.oversight.reconcile.messages import long_pages
from abacus.platform import slices
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

_DONE: Final = Statement(f"""
select a.receiver, a.key || '/' || a.number as key,
    exists(select from offer_gift g where g.member_id = a.member_id and g.key = a.key || '/' || a.number) as is_there
from action a
where a.owner_kind = :owner_kind and a.kind = '{DeedKind.GRANT}' and a.done_at is not null
    and a.decided_at >= :start and a.decided_at < :end
""")
_REDEEMED: Final = Statement(f"""
select count(*) from reward_redemption where key = any(:keys::text[]) and stage <> '{Stage.REFUSED}'
""")


async def compared_grants(
    connection: Connection, owner_kind: str, start: datetime, end: datetime
) -> list[ComparedCounts]:
    """Of deeds that were decided in the window. Within the transaction whose snapshot the account is of."""
    counts = dict.fromkeys(("offers", "invitations", "rewards", "redemptions"), 0)

    async def count() -> None:
        async for page in long_pages(connection, _DONE(owner_kind=owner_kind, start=start, end=end)):
            await _add(connection, page, counts)

    await slices.each(connection, count)
    by = f"granted by {owner_kind}s"
    offers = ComparedCounts(f"offers {by}", counts["offers"], "invitations", counts["invitations"])
    rewards = ComparedCounts(f"rewards {by}", counts["rewards"], "redemptions", counts["redemptions"])
    return [each for each in (offers, rewards) if each.counted]


async def _add(connection: Connection, page: Sequence[Any], counts: dict[str, int]) -> None:
    """What is not cut is looked up for each page."""
    invited = [row for row in page if row["receiver"] == INVITATIONS]
    keys = [row["key"] for row in page if row["receiver"] == REDEMPTIONS]
    counts["offers"] += len(invited)
    counts["invitations"] += sum(row["is_there"] for row in invited)
    counts["rewards"] += len(keys)
    if keys:
        counts["redemptions"] += await connection.fetchval(*_REDEEMED(keys=keys))
