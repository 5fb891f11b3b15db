"""The transfers of a window, where statements can hold them against what the session has collected.

Where the ledger is not cut, they are in its table. Slices' transfers are copied into a table of the session: each slice
may lie on another server, which does not know the session's tables.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from abacus.core.sources import (
    CAMPAIGN_PREFIX,
    JOURNEY_PREFIX,
    OFFER_PREFIX,
    REWARD_PREFIX,
    STREAM,
    is_partner_sql,
    source_sql,
)
from abacus.ledger.relay.cursor import START, Position
from abacus.ledger.types.kinds import TransferKind
from abacus.oversight.reconcile.messages import LONG_S, long_pages
from abacus.platform import slices
from abacus.platform.postgres import Connection, Pool, snapshot
from abacus.platform.sql import Statement

# A campaign's award goes back to its action; where actions are not kept, to the claim of its event.
_DECIDED: Final = """(
    exists (select from action a where a.member_id = t.member_id and a.key = t.key and a.kind = 'award')
    or exists (select from campaign_claim d where d.key = regexp_replace(t.key, ':[0-9]+$', '')))"""

_EARNED: Final = f"t.kind = '{TransferKind.EARN}'"
_OF_CAMPAIGNS: Final = f"coalesce({_EARNED} and starts_with({source_sql('t')}, '{CAMPAIGN_PREFIX}'), false)"

# A journey's award goes back to its action.
_OF_JOURNEYS: Final = f"coalesce({_EARNED} and starts_with({source_sql('t')}, '{JOURNEY_PREFIX}'), false)"
_WALKED: Final = """exists (
    select from action a
    where a.member_id = t.member_id and a.key = t.key and a.kind = 'award' and a.owner_kind = 'journey')"""

# Points that an offer gave, or that were taken back from it, go back to its redemption.
_REDEEMED: Final = """exists (
    select from offer_redemption d where d.member_id = t.member_id
    and t.key in ('redemption:' || d.redemption_id, 'redemption:' || d.redemption_id || ':' || 'back'))"""
_OF_OFFERS: Final = f"starts_with({source_sql('t')}, '{OFFER_PREFIX}')"

# Points that a reward gave go back to the action that asked for them.
_OF_REWARDS: Final = f"{_EARNED} and starts_with({source_sql('t')}, '{REWARD_PREFIX}')"
_DELIVERED: Final = """exists (
    select from action a where a.member_id = t.member_id and a.key = t.key and a.owner_kind = 'reward')"""
_FROM_LEDGER: Final = f"""
select t.member_id, t.program, t.seq, t.kind, t.key, t.points, t.balance_after,
    coalesce({source_sql("t")} = '{STREAM}', false) as of_messages,
    coalesce({_EARNED} and {is_partner_sql("t")}, false) as of_partners,
    {_OF_CAMPAIGNS} as of_campaigns,
    case when {_OF_CAMPAIGNS} then {_DECIDED} else false end as is_decided,
    {_OF_JOURNEYS} as of_journeys,
    case when {_OF_JOURNEYS} then {_WALKED} else false end as is_walked,
    coalesce({_OF_OFFERS}, false) as of_offers,
    case when {_OF_OFFERS} then {_REDEEMED} else false end as is_redeemed,
    coalesce({_OF_REWARDS}, false) as of_rewards,
    case when {_OF_REWARDS} then {_DELIVERED} else false end as is_delivered,
    (t.xid, t.member_id, t.program, t.seq) > (:xid::text::xid8, :member_id, :program, :seq) as not_yet
from transfer t where t.posted_at >= :start and t.posted_at < :end
"""
_OF_SLICE: Final = Statement(_FROM_LEDGER)
_COLUMNS: Final = {
    "member_id": 'text collate "C"',
    "program": 'text collate "C"',
    "seq": "bigint",
    "kind": "text",
    "key": 'text collate "C"',
    "points": "bigint",
    "balance_after": "bigint",
    "of_messages": "boolean",
    "of_partners": "boolean",
    "of_campaigns": "boolean",
    "is_decided": "boolean",
    "of_journeys": "boolean",
    "is_walked": "boolean",
    "of_offers": "boolean",
    "is_redeemed": "boolean",
    "of_rewards": "boolean",
    "is_delivered": "boolean",
    "not_yet": "boolean",
}
_CREATE: Final = f"""
create temporary table reconcile_transfer ({", ".join(f"{name} {kind} not null" for name, kind in _COLUMNS.items())})
"""
_COPIED: Final = "table reconcile_transfer"


def place_of(row: Mapping[str, object]) -> str:
    """The account and the number of a transfer, for people."""
    return f"{row['member_id']} {row['program']} #{row['seq']}"


class PostedInWindow:
    """The transfers that were posted in one window, each with whether the relay has not come to it yet."""

    def __init__(self, pool: Pool, connection: Connection, start: datetime, end: datetime) -> None:
        self._pool = pool
        self._connection = connection
        self._window = {"start": start, "end": end}
        self._positions: Sequence[Position] = ()

    async def create(self) -> None:
        self._positions = [START] * len(await slices.slices_of(self._pool))
        if self._are_copied:
            await self._connection.execute(_CREATE)

    def relay_is_at(self, positions: Sequence[Position]) -> None:
        """Sets the relay's position in each slice. Later reads compare with them."""
        self._positions = positions

    @property
    def _are_copied(self) -> bool:
        return len(self._positions) > 1

    async def look(self) -> None:
        """See what is posted by now.

        Slices are copied outside a transaction of the session: a writing one would hold up followers of other tables.
        """
        if not self._are_copied:
            return
        await self._connection.execute("truncate reconcile_transfer")
        left = iter(self._positions)
        async with snapshot(self._pool) as reader:
            await slices.each(reader, lambda: self._copy(reader, left))
        await self._connection.execute("analyze reconcile_transfer", timeout=LONG_S)

    async def _copy(self, reader: Connection, positions: Iterator[Position]) -> None:
        async for page in long_pages(reader, _OF_SLICE(**self._window, **next(positions)._asdict())):
            await self._connection.copy_records_to_table("reconcile_transfer", records=page, columns=list(_COLUMNS))

    async def fetch(self, text: str, **values: object) -> Sequence[Any]:
        """The rows of a statement that reads the transfers as the table `posted`, once."""
        if self._are_copied:
            statement = Statement(f"with posted as ({_COPIED}) {text}")(**values)
        else:
            (position,) = self._positions
            statement = Statement(f"with posted as ({_FROM_LEDGER}) {text}")(
                **self._window, **position._asdict(), **values
            )
        rows: Sequence[Any] = await self._connection.fetch(*statement, timeout=LONG_S)
        return rows
