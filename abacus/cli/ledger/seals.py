"""`abacus ledger seal`, `seals`, `prove` and `check-proof`: sealing the ledger, and proving an account by a seal."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Line, Table, counted
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.files import usable
from abacus.cli.terminal.progress import spinner
from abacus.cli.terminal.shell import pool
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, absent
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.account import Account
from abacus.people.types.deed import Deed
from abacus.proof.decide.proof import Proof, read_proof
from abacus.proof.decide.seal import Seal
from abacus.proof.decide.seal_event import described
from abacus.proof.store import Seals
from abacus.proof.tree import LeavesAdded


async def seal(
    if_older_than: Annotated[
        float | None,
        typer.Option("--if-older-than", metavar="HOURS", min=0, help="Do nothing if the last seal is younger."),
    ] = None,
) -> Answer:
    """Seal the ledger: one hash over every account. The relay publishes it on the points topic."""
    async with actor() as at:
        await at.begins(Deed.SEAL, "job:seal")
        seals = Seals(at.pool, at.clock)
        with _progress() as told:
            made = await seals.make(if_older_than=timedelta(hours=if_older_than or 0), progress=told)
    line = _told(made.seal) if made.is_new else f"seal {made.seal.number} is from {_at(made.seal)}: none made"
    return Answer({"made": made.is_new, "seal": described(made.seal)}, line)


async def show_seals() -> Answer:
    """List the seals, the last one first."""
    async with pool() as opened:
        seals = (await Seals(opened, SystemClock()).all())[::-1]
    rows = [[str(each.number), _at(each), each.accounts, each.transfers, f"{each.root.hex()[:16]}…"] for each in seals]
    return Answer(
        {"seals": [described(each) for each in seals]},
        Table("Seals", ["number", "sealed at", "accounts", "transfers", "root"], rows),
    )


async def prove(
    member: Annotated[str, typer.Argument(help="The member whose account it is.")],
    program: Annotated[str | None, typer.Option(help="Which points, if the member has several accounts.")] = None,
    number: Annotated[
        int | None, typer.Option("--seal", metavar="N", min=1, help="The seal to prove it by; else the last.")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the proof there; else print it.")] = None,
) -> None:
    """Write the proof that an account was part of a seal. `check-proof` checks it anywhere, without a database."""
    async with pool() as opened:
        accounts = await LedgerReader(opened).accounts(member)
        chosen = program or _only(member, accounts)
        with _progress() as told:
            proof = await Seals(opened, SystemClock()).prove((member, chosen), number, progress=told)
    text = proof.model_dump_json(indent=2) + "\n"
    if output is None:
        sys.stdout.write(text)
        return
    with usable(output):
        output.write_text(text, encoding="utf-8")


async def check_proof(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="A proof that `abacus ledger prove` wrote.")],
    root: Annotated[
        str | None, typer.Option(metavar="HEX", help="The seal's root, as you know it from elsewhere.")
    ] = None,
) -> Answer:
    """Check a proof, without a database. Exit 1 when it does not hold."""
    with usable(path):
        proof = read_proof(path.read_bytes())
    fault = proof.fault(root)
    proven = proof.model_dump(mode="json", include={"member_id", "program", "seq", "balance", "seal"})
    document = {"holds": fault is None, "root_given": root is not None, "fault": fault, **proven}
    if fault is not None:
        return Answer(document, Line(f"does not hold: {fault}", "red"), exit_code=EXIT_FAILED)
    return Answer(document, *_proven(proof, root))


@contextmanager
def _progress() -> Iterator[LeavesAdded]:
    with spinner("{task.completed:,} accounts") as progress:
        bar = progress.add_task("", total=None)
        yield lambda done: progress.update(bar, completed=done)


def _proven(proof: Proof, root: str | None) -> list[str]:
    seal, compared = proof.seal, "as given" if root else "as the file says: compare it, or give --root"
    return [
        f"holds: {proof.member_id} had {counted(proof.balance, 'point')} ({proof.program})",
        f"  at seal {seal.number}, of {seal.sealed_at.isoformat()}, over {counted(seal.accounts, 'account')}",
        f"  after {counted(proof.seq, 'transfer')}, the last of them with the hash {proof.head_hash}",
        f"  root {seal.root}, {compared}",
    ]


def _only(member: str, accounts: Sequence[Account]) -> str:
    """The program of the member's one account."""
    programs = [account.program for account in accounts]
    if not programs:
        raise absent("account of", member)
    if len(programs) > 1:
        raise Refused(f"{member} has several accounts; say which with --program: {', '.join(programs)}")
    return programs[0]


def _told(each: Seal) -> str:
    holds = f"{counted(each.accounts, 'account')}, {counted(each.transfers, 'transfer')}"
    return f"seal {each.number}: {holds}, root {each.root.hex()}"


def _at(each: Seal) -> str:
    return each.sealed_at.isoformat(timespec="seconds")
