"""Redemptions of rewards that transactions name. They lie on one server, also where the ledger is cut."""

from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from abacus.engage.rewards.decide.redemption import Redemption
from abacus.platform.postgres import LONG_S, Connection
from abacus.platform.sql import Statement, columns

_NAMED: Final = Statement(f"""
select {columns(Redemption)} from reward_redemption where redemption_id = any(:ids::uuid[])
""")


async def named_rewards(connection: Connection, ids: Collection[UUID]) -> Mapping[UUID, Redemption]:
    """Of any member."""
    found = [Redemption(*row) for row in await connection.fetch(*_NAMED(ids=list(ids)), timeout=LONG_S)]
    return {each.redemption_id: each for each in found}
