"""A member's accounts under a pseudonym: every sum as it was, every chain of hashes made anew.

The triggers let this through for the owner of the tables, one member at a time (docs/adr/0022).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Refused, Unavailable
from abacus.core.ids import PARTNERS, expiry_claim
from abacus.ledger.types.account import NO_HASH
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.erasure.decide.pseudonym import Pseudonym, rechained
from abacus.platform.postgres import Connection
from abacus.platform.sql import Statement, columns
from abacus.pricing.explanation.text import TRANSACTION_FIELD

TABLES: Final = frozenset({"account", "claim", "draw", "relay_cursor", "transfer"})

_PAGE: Final = 1000


class Head(NamedTuple):
    """An account as it stands: its number of transfers, its balance, and the hash of the last."""

    program: str
    transfers: int
    balance: int
    hash: bytes


class _Position(NamedTuple):
    """How far a relay has published its topic."""

    topic: str
    xid: str
    member_id: str
    program: str
    seq: int


_LOCK: Final = Statement("""
select program, last_seq, balance, head_hash from account where member_id = :member_id order by program for update
""")

# A transfer is published in the order of (xid, member_id, …), so its name must not change while the relay may still be
# at its transaction.
_POSITIONS: Final = "select topic, xid::text, member_id, program, seq from relay_cursor order by topic for update"
_UNPUBLISHED: Final = Statement("""
select exists(
    select from transfer
    where member_id = :erased and (xid, member_id, program, seq) > (:xid::text::xid8, :member_id, :program, :seq)
)
""")
_AT_POSITION: Final = Statement("""
select exists(select from transfer where member_id = :erased and xid = :xid::text::xid8) as is_there,
    exists(
        select from transfer
        where xid = :xid::text::xid8 and (member_id, program, seq) > (:member_id, :program, :seq)
    ) as is_under_way
""")
_PAST: Final = Statement("""
update relay_cursor set xid = :xid::text::xid8, member_id = '', program = '', seq = 0 where topic = :topic
""")

_NEXT: Final = Statement(f"""
select {columns(Transfer)} from transfer where member_id = :member_id and program = :program order by seq limit {_PAGE}
""")
_RENAME_TRANSFERS: Final = Statement("""
update transfer t
set member_id = :pseudonym, key = u.key, reverses = u.reverses, explanation = u.explanation, hash = u.hash
from unnest(:seqs::bigint[], :keys::text[], :reverses::text[], :explanations::json[], :hashes::bytea[])
    as u (seq, key, reverses, explanation, hash)
where t.member_id = :member_id and t.program = :program and t.seq = u.seq
""")
_RENAME_CLAIMS: Final = Statement("""
update claim c set member_id = :pseudonym, key = u.after
from unnest(:before::text[], :after::text[]) as u (before, after)
where c.key = u.before and c.member_id = :member_id
""")
_RENAME_ACCOUNT: Final = Statement("""
update account set member_id = :pseudonym, head_hash = :head where member_id = :member_id and program = :program
""")
_RENAME_DRAWS: Final = Statement("update draw set member_id = :pseudonym where member_id = :member_id")


async def lock_heads(connection: Connection, member_id: str) -> list[Head]:
    """Lock the member's accounts until the transaction ends, and return them."""
    return [Head(*row) for row in await connection.fetch(*_LOCK(member_id=member_id))]


async def settle_with_relay(connection: Connection, member_id: str) -> None:
    """Move each relay's cursor beyond the transactions in which the member has transfers, so that new names do not
    change the order of publishing. Raises `Unavailable` while one of these transfers is not published yet.
    """
    for position in [_Position(*row) for row in await connection.fetch(_POSITIONS)]:
        place = {name: value for name, value in position._asdict().items() if name != "topic"}
        if await connection.fetchval(*_UNPUBLISHED(erased=member_id, **place)):
            raise Unavailable("relay", "it has not published all of the member's transfers; try again when it has")
        row = await connection.fetchrow(*_AT_POSITION(erased=member_id, **place))
        if row["is_there"] and row["is_under_way"]:
            raise Unavailable("relay", "it is at a transaction in which the member has transfers; try again")
        if row["is_there"]:  # all of this transaction is published: the cursor may as well stand before the next one
            await connection.execute(*_PAST(topic=position.topic, xid=str(int(position.xid) + 1)))


async def rename_accounts(
    connection: Connection, renaming: Pseudonym, heads: Sequence[Head]
) -> tuple[dict[str, int], list[Head]]:
    """Rename the accounts; return the rows touched, by table, and the renamed accounts. Raises `Refused` if rows are
    missing.
    """
    renamed = [await _rename(connection, renaming, head) for head in heads]
    await connection.execute(*_RENAME_DRAWS(**renaming._asdict()))
    transfers, claims = sum(head.transfers for head in heads), sum(count for _, count in renamed)
    return {"account": len(heads), "transfer": transfers, "claim": claims}, [head for head, _ in renamed]


async def _rename(connection: Connection, renaming: Pseudonym, before: Head) -> tuple[Head, int]:
    """The renamed account, and how many claims were renamed with it."""
    account = {"member_id": renaming.member_id, "program": before.program}
    head, done, claims = NO_HASH, 0, 0
    while page := [Transfer(*row) for row in await connection.fetch(*_NEXT(**account))]:
        renamed = rechained(page, renaming, head)
        head, done = renamed[-1].hash, done + len(page)
        await _expect(
            len(page),
            await connection.execute(
                *_RENAME_TRANSFERS(
                    **account,
                    pseudonym=renaming.pseudonym,
                    seqs=[transfer.seq for transfer in renamed],
                    keys=[transfer.key for transfer in renamed],
                    reverses=[transfer.reverses for transfer in renamed],
                    explanations=[transfer.explanation for transfer in renamed],
                    hashes=[transfer.hash for transfer in renamed],
                )
            ),
        )
        keys = {
            before: after
            for old, new in zip(page, renamed, strict=True)
            for before, after in zip(_claims_of(old), _claims_of(new), strict=True)
        }
        await _rename_claims(connection, renaming, keys)
        claims += len(keys)
    await connection.execute(*_RENAME_ACCOUNT(**account, pseudonym=renaming.pseudonym, head=head))
    return before._replace(transfers=done, hash=head), claims


async def _rename_claims(connection: Connection, renaming: Pseudonym, keys: Mapping[str, str]) -> None:
    before, after = list(keys), list(keys.values())
    updated = await connection.execute(*_RENAME_CLAIMS(**renaming._asdict(), before=before, after=after))
    await _expect(len(keys), updated)


async def _expect(count: int, updated: str) -> None:
    if updated != f"UPDATE {count}":
        raise Refused(
            f"{updated} rows of {count}: the ledger does not hold together; `abacus ledger verify` says where"
        )


def _claims_of(transfer: Transfer) -> list[str]:
    """The keys as the register of claims has them: an expiry's is unique within its account, and a partner's award for
    a transaction has claimed that too.
    """
    if transfer.kind == TransferKind.EXPIRE:
        return [expiry_claim(transfer.key.partition(":")[2], transfer.member_id, transfer.program)]
    if not transfer.key.startswith(PARTNERS):
        return [transfer.key]
    transaction = json.loads(transfer.explanation).get(TRANSACTION_FIELD)
    return [transfer.key] if transaction is None else [transfer.key, transaction]
