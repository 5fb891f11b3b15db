"""A member's accounts under a pseudonym: every sum as it was, every chain of hashes made anew.

The triggers let this through for the owner of the tables, one member at a time (docs/adr/0022).
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Refused, Unavailable
from abacus.core.ids import expiry_claim
from abacus.ledger.types.account import NO_HASH
from abacus.ledger.types.award import Kind
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.erasure.decide.renaming import Renaming, rechained
from abacus.platform.postgres import Connection

TABLES: Final = frozenset({"account", "claim", "draw", "relay_cursor", "transfer"})

_PAGE: Final = 1000

_LOCK: Final = """
select program, last_seq, balance, head_hash from account where member_id = $1 order by program for update
"""

# A transfer is published in the order of (xid, member_id, …), so its name must not change while the relay may still be
# at its transaction.
_CURSORS: Final = "select topic, xid::text, member_id, program, seq from relay_cursor order by topic for update"
_UNPUBLISHED: Final = """
select exists(
    select from transfer where member_id = $1 and (xid, member_id, program, seq) > ($2::text::xid8, $3, $4, $5)
)
"""
_REST_OF_TRANSACTION: Final = """
select exists(select from transfer where member_id = $1 and xid = $2::text::xid8),
    exists(select from transfer where xid = $2::text::xid8 and (member_id, program, seq) > ($3, $4, $5))
"""
_PAST: Final = "update relay_cursor set xid = $2::text::xid8, member_id = '', program = '', seq = 0 where topic = $1"

_NEXT: Final = f"""
select {", ".join(Transfer._fields)} from transfer where member_id = $1 and program = $2 order by seq limit {_PAGE}
"""
_RENAME_TRANSFERS: Final = """
update transfer t
set member_id = $3, key = u.key, reverses = u.reverses, explanation = u.explanation, hash = u.hash
from unnest($4::bigint[], $5::text[], $6::text[], $7::json[], $8::bytea[]) as u (seq, key, reverses, explanation, hash)
where t.member_id = $1 and t.program = $2 and t.seq = u.seq
"""
_RENAME_CLAIMS: Final = """
update claim c set member_id = $2, key = u.after
from unnest($3::text[], $4::text[]) as u (before, after)
where c.key = u.before and c.member_id = $1
"""
_RENAME_ACCOUNT: Final = """
update account set member_id = $3, head_hash = $4 where member_id = $1 and program = $2
"""


class Head(NamedTuple):
    """An account as it stands: how many transfers it has, what they come to, and the hash of the last."""

    program: str
    transfers: int
    balance: int
    hash: bytes


async def lock_heads(connection: Connection, member_id: str) -> list[Head]:
    """The member's accounts, ours until the transaction ends."""
    return [Head(*row) for row in await connection.fetch(_LOCK, member_id)]


async def settle_with_relay(connection: Connection, member_id: str) -> None:
    """Bring each relay's place beyond the transactions in which the member has transfers, so that new names change
    nothing of what is published. Raises `Unavailable` while one of them is not published yet.
    """
    for topic, xid, *place in await connection.fetch(_CURSORS):
        if await connection.fetchval(_UNPUBLISHED, member_id, xid, *place):
            raise Unavailable("relay", "it has not published all of the member's transfers; try again when it has")
        is_there, is_under_way = await connection.fetchrow(_REST_OF_TRANSACTION, member_id, xid, *place)
        if is_there and is_under_way:
            raise Unavailable("relay", "it is at a transaction in which the member has transfers; try again")
        if is_there:  # all of this transaction is published: to stand before the next one is the same
            await connection.execute(_PAST, topic, str(int(xid) + 1))


async def rename_accounts(
    connection: Connection, renaming: Renaming, heads: Sequence[Head]
) -> tuple[dict[str, int], list[Head]]:
    """Rows touched, by table, and the accounts as they stand then. Raises `Refused` when rows are missing."""
    after = [await _rename(connection, renaming, head) for head in heads]
    await connection.execute("update draw set member_id = $2 where member_id = $1", *renaming)
    transfers = sum(head.transfers for head in heads)
    return {"account": len(heads), "transfer": transfers, "claim": transfers}, after


async def _rename(connection: Connection, renaming: Renaming, before: Head) -> Head:
    account = (renaming.member_id, before.program)
    head, done = NO_HASH, 0
    while page := [Transfer(*row) for row in await connection.fetch(_NEXT, *account)]:
        renamed = rechained(page, renaming, head)
        head, done = renamed[-1].hash, done + len(page)
        await _expect(
            len(page),
            await connection.execute(
                _RENAME_TRANSFERS,
                *account,
                renaming.pseudonym,
                [transfer.seq for transfer in renamed],
                [transfer.key for transfer in renamed],
                [transfer.reverses for transfer in renamed],
                [transfer.explanation for transfer in renamed],
                [transfer.hash for transfer in renamed],
            ),
        )
        keys = {_claimed_as(old): _claimed_as(new) for old, new in zip(page, renamed, strict=True)}
        await _rename_claims(connection, renaming, keys)
    await connection.execute(_RENAME_ACCOUNT, *account, renaming.pseudonym, head)
    return before._replace(transfers=done, hash=head)


async def _rename_claims(connection: Connection, renaming: Renaming, keys: Mapping[str, str]) -> None:
    updated = await connection.execute(_RENAME_CLAIMS, *renaming, list(keys), list(keys.values()))
    await _expect(len(keys), updated)


async def _expect(count: int, updated: str) -> None:
    if updated != f"UPDATE {count}":
        raise Refused(
            f"{updated} rows of {count}: the ledger does not hold together; `abacus ledger verify` says where"
        )


def _claimed_as(transfer: Transfer) -> str:
    """The key as the register has it: an expiry's is unique within its account."""
    if transfer.kind == Kind.EXPIRE:
        return expiry_claim(transfer.key.partition(":")[2], transfer.member_id, transfer.program)
    return transfer.key
