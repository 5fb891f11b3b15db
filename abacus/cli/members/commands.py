"""`abacus members`: showing a member's accounts, erasing a member, and the record of erasures."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from abacus.cli.members.life import life_of
from abacus.cli.terminal.answer import Answer, AsJson, Table, console, counted, errors, print_json
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import check_member
from abacus.cli.terminal.shell import CommandGroup, moment, pool, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, absent
from abacus.intake.partners.members import MemberReader
from abacus.oversight.erasure.decide.pseudonym import Pseudonym
from abacus.oversight.erasure.erase import Eraser, Erasure
from abacus.oversight.erasure.erase import erasures as recorded
from abacus.oversight.erasure.ledger import Head
from abacus.people.store.chain import digest_of_erased
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Connection, Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.proof.decide.recompute import recompute
from abacus.proof.erased_leaves import keep_leaves

app = CommandGroup(help="Members.", no_args_is_help=True)


@app.command("show")
async def show(
    member: Annotated[str, typer.Argument(help="The member's id.")],
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="A time that is past, with an offset; now if left out.")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="And its points with their reasons, tiers, transfers, messages, approvals.")
    ] = False,
) -> Answer:
    """Show a member's accounts: as they are, or as they were at a time that is past. Exit 1 for nobody."""
    at = moment("--as-of", as_of) if as_of is not None else None
    if everything and at is not None:
        raise Refused("--all and --as-of: choose one")
    if everything:
        async with pool() as opened:
            return await life_of(opened, member)
    if at is not None and at > SystemClock().now():
        raise Refused(f"--as-of: {as_of} is still to come")
    async with pool() as opened:
        reader = MemberReader(opened)
        if at is None:
            accounts = [holding.at(SystemClock().now()) for holding in await reader.holdings(member)]
        else:
            accounts = list(await reader.as_of(member, at))
        if not (accounts or (at is not None and await reader.holdings(member))):
            raise absent("account of", member)
    documents = [{**each._asdict(), "available": each.available} for each in accounts]
    rows = [
        [each.program, each.country, each.balance, each.held, each.pending, each.available, each.tier, each.expires_on]
        for each in accounts
    ]
    columns = ["program", "country", "balance", "held", "pending", "available", "tier", "good until"]
    return Answer(
        {"member_id": member, "as_of": at and at.isoformat(), "accounts": documents},
        Table(f"Accounts of {member}" + (f" as of {at.isoformat()}" if at is not None else ""), columns, rows),
    )


@app.command("erase")
async def erase(
    member: Annotated[str, typer.Argument(metavar="ID", help="The member's id.")],
    reason: Annotated[str, typer.Option(help="Why, without the member's name; it is kept.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be erased, and change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete a member's personal data for ever, and put a pseudonym in the place of the id.

    The ledger keeps its transfers, and can still be proved. Needs the login that owns the tables.
    """
    settings()
    _check(member, reason, dry_run=dry_run)
    async with actor(partial(pool, role=None)) as at:
        eraser = await _eraser(at.pool)
        if not dry_run:
            at.check(Deed.ERASE)
        if dry_run or not yes:
            _show(member, await eraser.look(member), as_json=as_json and dry_run)
        if dry_run:
            return
        if not yes:
            _ask(member)

        async def also(connection: Connection, made: Erasure) -> None:
            subject = f"member:{made.pseudonym}"
            left = await digest_of_erased(connection, subject)
            await at.does(Deed.ERASE, subject, reason=reason, left=left)(connection)

        erased = await eraser.erase(member, by=at.actor.source, reason=reason, also=also)
    if as_json:
        print_json({"dry_run": False} | erased._asdict())
    else:
        console.print(f"erased; now {erased.pseudonym}")


@app.command("erasures")
async def erasures(limit: Annotated[int, typer.Option(min=1, max=10_000)] = 100) -> Answer:
    """List the erasures, the newest first. The list does not say who was erased."""
    async with pool() as opened:
        records = await recorded(opened, limit)
    return Answer(
        [each._asdict() for each in records],
        Table("Erasures", ["pseudonym", "when", "by", "why", "accounts"], [_row(each) for each in records]),
    )


async def _eraser(owner: Pool) -> Eraser:
    book = CardBook(await CardStore(owner).all())
    return Eraser(owner, SystemClock(), lambda transfer: recompute(transfer, book), before_renaming=[_keep_leaves])


async def _keep_leaves(connection: Connection, renaming: Pseudonym, _: Sequence[Head]) -> None:
    await keep_leaves(connection, *renaming)


def _check(member: str, reason: str, *, dry_run: bool) -> None:
    check_member(member)
    if not dry_run and not reason.strip():
        raise Refused("--reason: say why, it is kept with the erasure")
    if member in reason:
        raise Refused("--reason: leave the member's id out, it would be kept")


def _ask(member: str) -> None:
    if not sys.stdin.isatty():
        raise Refused("nobody can be asked here; --yes erases without asking")
    errors.print(f"erase {member}? This cannot be taken back.")
    if not typer.confirm("erase", err=True):
        raise Refused("nothing was erased")


def _show(member: str, looked: Erasure, *, as_json: bool) -> None:
    if as_json:
        print_json({"dry_run": True, "member_id": member, "accounts": looked.accounts, "rows": looked.rows})
        return
    for name, count in looked.rows.items():
        if count:
            console.print(f"{count:>12,}  {name}")


def _row(erasure: Erasure) -> list[object]:
    accounts = "\n".join(
        f"{each['program']}: {counted(each['transfers'], 'transfer')}, balance {each['balance']:,}"
        for each in erasure.accounts
    )
    return [erasure.pseudonym, erasure.erased_at, erasure.erased_by, erasure.reason, accounts]
