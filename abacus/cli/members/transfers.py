"""`abacus members transfers`: a member's history, the newest first."""

import json
from typing import Annotated, Any, Final

import typer

from abacus.cli.terminal.answer import Answer, Columns, Table
from abacus.cli.terminal.shell import pool
from abacus.core.errors import absent
from abacus.core.ids import award_id
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.transfer import Transfer

_COLUMNS: Final[Columns[Transfer]] = {
    "posted": lambda each: each.posted_at,
    "program": lambda each: each.program,
    "kind": lambda each: each.kind,
    "points": lambda each: f"{each.points:+,}",
    "balance": lambda each: each.balance_after,
    "key": lambda each: each.key,
    "reverses": lambda each: each.reverses,
    "by": lambda each: each.actor,
}


async def transfers(
    member: Annotated[str, typer.Argument(metavar="ID", help="The member's id.")],
    program: Annotated[str | None, typer.Option(help="Only these points.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The most transfers to print.")] = 50,
) -> Answer:
    """List a member's transfers, the newest first. Exit 1 for nobody."""
    async with pool() as opened:
        ledger = LedgerReader(opened)
        accounts = [each for each in await ledger.accounts(member) if program in {None, each.program}]
        if not accounts:
            raise absent(f"account of {program} of" if program else "account of", member)
        ends = {each.program: each.last_seq + 1 for each in accounts}
        history = await ledger.history(member, ends, limit)
    whole = sum(each.last_seq for each in accounts)
    title = f"Transfers of {member}" + (f", the last {limit:,} of {whole:,}" if whole > limit else "")
    document = {"member_id": member, "transfers": [_document(each) for each in history]}
    return Answer(document, Table.of(title, history, _COLUMNS))


def _document(transfer: Transfer) -> dict[str, Any]:
    """As the API answers, and what only operators see: the award's id and the source."""
    return {
        "id": f"{transfer.member_id}:{transfer.program}:{transfer.seq}",
        **facts_of(transfer),
        "country": transfer.country,
        "source": transfer.known_source,
    }


def facts_of(transfer: Transfer) -> dict[str, Any]:
    """What every document of a transfer has."""
    return {
        "award_id": award_id(transfer.key),
        "key": transfer.key,
        "program": transfer.program,
        "seq": transfer.seq,
        "kind": transfer.kind,
        "points": transfer.points,
        "balance_after": transfer.balance_after,
        "occurred_at": transfer.occurred_at,
        "posted_at": transfer.posted_at,
        "expires_on": transfer.expires_on,
        "vests_on": transfer.vests_on,
        "reverses": transfer.reverses,
        "actor": transfer.actor,
        "explanation": json.loads(transfer.explanation),
    }
