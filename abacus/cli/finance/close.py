"""`abacus report close`: a month's books, checked, exported and signed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from abacus.approving.closes import close_proposal
from abacus.cli.ledger.verify import verified
from abacus.cli.people.approvals import large_moves, waiting
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, Table, tell
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.files import usable
from abacus.cli.terminal.sheets import Decimals, reading
from abacus.cli.terminal.shell import pool, settings
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.oversight.closing.books import MonthBooks, Papers, month_books, published_accounts
from abacus.oversight.closing.decide.obstacles import ACCEPTABLE, Obstacle, left
from abacus.oversight.closing.decide.record import Act, Signed, check_close
from abacus.oversight.closing.kind import accounts_desk
from abacus.oversight.closing.store import MonthCloses
from abacus.people.types.deed import Deed
from abacus.programs.expiry.decide.month import Month
from abacus.proof.decide.report import Report


async def close(
    month: Annotated[str | None, typer.Option("--month", metavar="YYYY-MM", help="The month.")] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help="The accounts of the journal, by program, country and kind. Default: those that are published.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the files go.")] = Path(),
    account: Annotated[
        Path | None, typer.Option("--reconciled", metavar="FILE", help="The month's account, as `reconcile` wrote it.")
    ] = None,
    accept: Annotated[
        list[str] | None,
        typer.Option(metavar="OBSTACLE", help=f"Close in spite of it: {', '.join(ACCEPTABLE)}; may be repeated."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why an obstacle is accepted, or the month reopened.")] = "",
    reopen: Annotated[bool, typer.Option("--reopen", help="Take the close back, with a reason.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Say what stands in the way. Nothing is signed.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Show who closed and reopened which month.")] = False,
    decimals: Decimals = 2,
) -> Answer:
    """Close a month's books: refuse while they do not tie, write rollforward and journal as CSV, and sign their hashes,
    or have another person sign them. Exit 1 when something stands in the way.
    """
    if show:
        return await _record(Month.parse(month) if month else None)
    if month is None:
        raise Refused("say which month: --month 2026-04; or --show")
    wanted = Month.parse(month)
    if reopen:
        return _answer(await _reopened(wanted, reason))
    if unknown := sorted(set(accept or ()) - set(ACCEPTABLE)):
        raise Refused(f"--accept: {unknown[0]!r} cannot be accepted; these can: {', '.join(ACCEPTABLE)}")
    if accept and not reason:
        raise Refused("--accept needs a --reason; auditors read it")
    if not out.is_dir():
        raise Refused(f"--out: there is no directory {out}")
    papers = await _papers(wanted, mapping, account)
    close_ = Close(wanted, papers, out, accept or [], reason, decimals)
    return await _checked(close_) if check else await _closed(close_)


class Close(NamedTuple):
    """A close as a person asks for it."""

    month: Month
    papers: Papers
    out: Path
    accepted: Sequence[str]
    reason: str
    decimals: int


async def _papers(month: Month, mapping: Path | None, account: Path | None) -> Papers:
    """The accounts of the journal, of the file or else as published; and the account of the messages."""
    name, accounts = await _accounts(month) if mapping is None else (mapping.name, _read(mapping))
    return Papers(name, accounts) if account is None else Papers(name, accounts, account.name, _read(account))


async def _accounts(month: Month) -> tuple[str, bytes]:
    async with pool() as opened:
        return await published_accounts(accounts_desk(opened, SystemClock()), month)


async def _closed(wanted: Close) -> Answer:
    """Sign the month, or have another person sign it. The whole ledger is verified last, because that takes the
    longest.
    """
    books = await _allowed_books(wanted)
    _stop_at(left(books.obstacles, wanted.accepted))
    async with actor() as at:
        _stop_at(_wrong_rows(await verified(at.pool)))
        for name, content in {wanted.papers.accounts_name: wanted.papers.accounts, **books.files}.items():
            with usable(wanted.out / name):
                (wanted.out / name).write_bytes(content)
        if settings().closes_need_approval:
            return waiting(
                await large_moves(at.pool, at).approvals.ask(close_proposal(books, wanted.reason), at.actor.agent)
            )
        signed = books.signed(by=at.actor.source, at=at.clock.now(), reason=wanted.reason)
        also = at.does(Deed.CLOSE_BOOKS, f"month:{wanted.month}", reason=wanted.reason, accepted=list(wanted.accepted))
        return _answer(await MonthCloses(at.pool).sign(signed, also))


def _wrong_rows(report: Report) -> list[Obstacle]:
    if report.clean:
        return []
    words = "`abacus ledger verify` finds rows that are wrong; the first:"
    return [Obstacle("not-verified", f"{words} {report.faults[0]}")]


async def _checked(wanted: Close) -> Answer:
    """Everything that a close looks at, to the end. Ends with 1 where something stands in the way."""
    books = await _allowed_books(wanted)
    obstacles = list(books.obstacles)
    async with pool() as opened:
        obstacles += _wrong_rows(await verified(opened))
    open_ = left(obstacles, wanted.accepted)
    document = {
        "month": str(wanted.month),
        "may_be_signed": not open_,
        "needs_approval": settings().closes_need_approval,
        "seal": books.seal.number if books.seal else None,
        "obstacles": [{"name": each.name, "said": each.said, "left": each in open_} for each in obstacles],
        "movements": books.movements.documents(),
        "ties": books.ties.documents(),
        "journal": [each._asdict() for each in books.journal],
        "benefits": books.benefits.documents(),
    }
    accepted = [f"accepted: {each}" for each in obstacles if each not in open_]
    verdict = [_aside(each) for each in open_] if open_ else [f"{wanted.month} can be signed"]
    return Answer(document, *accepted, *verdict, exit_code=EXIT_FAILED if open_ else 0)


async def _allowed_books(wanted: Close) -> MonthBooks:
    """Raises `Refused` where the actor may not close, or the month cannot be closed."""
    async with actor() as at:
        at.check(Deed.CLOSE_BOOKS)
        check_close(await MonthCloses(at.pool).all(), wanted.month)
    async with reading(f"the books of {wanted.month}") as (connection, book):
        return await month_books(
            connection, book, wanted.month, wanted.papers, decimals=wanted.decimals, now=SystemClock().now()
        )


def _stop_at(obstacles: Sequence[Obstacle]) -> None:
    tell(*map(_aside, obstacles))
    if obstacles:
        raise typer.Exit(EXIT_FAILED)


def _aside(obstacle: Obstacle) -> Aside:
    return Aside(f"abacus: {obstacle}")


async def _reopened(month: Month, reason: str) -> Signed:
    if not reason:
        raise Refused("--reopen needs a --reason; auditors read it")
    async with actor() as at:
        also = at.does(Deed.CLOSE_BOOKS, f"month:{month}", reason=reason, reopened=True)
        row = Signed(month, 0, Act.REOPENED, at.actor.source, at.clock.now(), reason, files={}, accepted=())
        return await MonthCloses(at.pool).sign(row, also)


async def _record(month: Month | None) -> Answer:
    async with pool() as opened:
        record = [each for each in await MonthCloses(opened).all() if month in {None, each.month}]
    names = ["month", "number", "act", "signed by", "signed at", "seal", "files", "reason"]
    rows = [_cells(each) for each in record]
    return Answer({"rows": [_document(each) for each in record]}, Table("Closed months", names, rows))


def _answer(signed: Signed) -> Answer:
    files = (f"  {digest}  {name}" for name, digest in signed.files.items())
    accepted = (f"  accepted: {said}" for said in signed.accepted)
    return Answer(_document(signed), f"{signed.month} {signed.act} by {signed.signed_by}", *files, *accepted)


def _document(signed: Signed) -> dict[str, object]:
    at = signed.signed_at.isoformat()
    return {**signed._asdict(), "month": str(signed.month), "act": str(signed.act), "signed_at": at}


def _cells(each: Signed) -> list[object]:
    at, files = each.signed_at.isoformat(timespec="seconds"), ", ".join(each.files)
    return [str(each.month), str(each.number), each.act, each.signed_by, at, str(each.seal or ""), files, each.reason]


def _read(file: Path) -> bytes:
    with usable(file):
        return file.read_bytes()
