"""Ids that no new member may have, and that no member of before has."""

from collections.abc import Collection, Iterable
from typing import Final

from abacus.core.members import strange_among
from abacus.ledger.decide.newcomers import NOBODY_REFUSED
from abacus.ledger.types.account import AccountId
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement

_KNOWN: Final = Statement("select distinct member_id from account where member_id = any(:members::text[])")


async def refused_newcomers(
    connection: Connection, touched: Iterable[AccountId], existing: Collection[AccountId]
) -> frozenset[str]:
    """The members of accounts that would be opened, whose ids are refused: a member of before keeps the id, in every
    program.
    """
    strange = strange_among({member for member, program in touched if (member, program) not in existing})
    if not strange:
        return NOBODY_REFUSED
    return frozenset(strange) - {row[0] for row in await connection.fetch(*_KNOWN(members=strange))}
