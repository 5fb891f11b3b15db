"""`abacus report close`: a month's books, checked, exported and signed."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import typer

from abacus.cli.ledger.verify import verified
from abacus.cli.terminal.answer import EXIT_FAILED, Answer, Aside, Table, tell
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.files import usable
from abacus.cli.terminal.sheets import Decimals, reading, sheet_csv
from abacus.cli.terminal.shell import pool
from abacus.core.clock import SystemClock
from abacus.core.errors import Refused
from abacus.documents.types import documents
from abacus.oversight.closing.checks import readiness
from abacus.oversight.closing.decide.account_map import read_mapping
from abacus.oversight.closing.decide.journal import JournalLine, journal
from abacus.oversight.closing.decide.journal_accounts import mapping_text
from abacus.oversight.closing.decide.obstacles import ACCEPTABLE, Obstacle, left, reconciled
from abacus.oversight.closing.decide.record import Act, Signed, check_close
from abacus.oversight.closing.kind import accounts_desk
from abacus.oversight.closing.store import MonthCloses
from abacus.oversight.reports.assumption_store import assumptions
from abacus.oversight.reports.decide.by import By, not_asked_for
from abacus.oversight.reports.decide.rollforward import Movement
from abacus.oversight.reports.decide.sheet import sheet
from abacus.oversight.reports.homes import homes
from abacus.oversight.reports.movements import rollforward
from abacus.people.types.deed import Deed
from abacus.programs.expiry.decide.month import Month
from abacus.proof.decide.seal import Seal

_BY: Final = frozenset({By.COUNTRY})
_NOT_VERIFIED: Final = Obstacle("not-verified", "`abacus ledger verify` finds rows that are wrong")


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
    """Close a month's books: refuse while they do not tie, write rollforward and journal as CSV, and sign their hashes.
    Exit 1 when something stands in the way.
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
    journal_accounts = await _published(wanted) if mapping is None else (mapping, _read(mapping))
    papers = Papers(*journal_accounts, account, None if account is None else _read(account))
    close_ = Close(wanted, papers, out, accept or [], reason, decimals)
    return await _checked(close_) if check else _answer(await _closed(close_))


async def _published(month: Month) -> tuple[Path, bytes]:
    """The accounts that are published, as the file that the close keeps of them."""
    async with pool() as opened:
        records = await accounts_desk(opened, SystemClock()).records()
    if not records:
        raise Refused("no accounts of the journal are published; `abacus accounts publish` does that")
    return Path(f"accounts-{month}.toml"), mapping_text(documents(records)).encode()


class Papers(NamedTuple):
    """The files that a close is made with, and their content."""

    mapping_file: Path
    mapping: bytes
    account_file: Path | None
    account: bytes | None

    @property
    def accounts(self) -> dict[str, bytes]:
        """The accounts that were used, beside the files that were made with them."""
        return {self.mapping_file.name: self.mapping}

    @property
    def named(self) -> dict[str, bytes]:
        given = self.accounts
        if self.account_file is not None and self.account is not None:
            given[self.account_file.name] = self.account
        return given


class Close(NamedTuple):
    """A close as a person asks for it."""

    month: Month
    papers: Papers
    out: Path
    accepted: Sequence[str]
    reason: str
    decimals: int


class Draft(NamedTuple):
    """The books of a month as they would be signed, and what stands in the way."""

    files: Mapping[str, bytes]
    obstacles: Sequence[Obstacle]
    seal: Seal | None


async def _closed(wanted: Close) -> Signed:
    """Sign the month. The whole ledger is verified last, because that takes the longest."""
    draft = await _allowed_draft(wanted)
    _stop_at(left(draft.obstacles, wanted.accepted))
    async with actor() as at:
        report = await verified(at.pool)
        if not report.clean:
            _stop_at([_NOT_VERIFIED])
        for name, content in {**wanted.papers.accounts, **draft.files}.items():
            with usable(wanted.out / name):
                (wanted.out / name).write_bytes(content)
        kept = sorted({**draft.files, **wanted.papers.named}.items())
        signed = Signed(
            month=wanted.month,
            number=0,
            act=Act.CLOSED,
            signed_by=at.actor.source,
            signed_at=at.clock.now(),
            reason=wanted.reason,
            files={name: hashlib.sha256(content).hexdigest() for name, content in kept},
            accepted=[str(each) for each in draft.obstacles],
            seal=draft.seal.number if draft.seal else None,
            seal_hash=draft.seal.hash.hex() if draft.seal else None,
        )
        also = at.does(Deed.CLOSE_BOOKS, f"month:{wanted.month}", reason=wanted.reason, accepted=list(wanted.accepted))
        return await MonthCloses(at.pool).sign(signed, also)


async def _checked(wanted: Close) -> Answer:
    """Everything that a close looks at, to the end. Ends with 1 where something stands in the way."""
    draft = await _allowed_draft(wanted)
    obstacles = list(draft.obstacles)
    async with pool() as opened:
        if not (await verified(opened)).clean:
            obstacles.append(_NOT_VERIFIED)
    open_ = left(obstacles, wanted.accepted)
    rows = [{"name": each.name, "said": each.said, "left": each in open_} for each in obstacles]
    seal = draft.seal.number if draft.seal else None
    document = {"month": str(wanted.month), "may_be_signed": not open_, "seal": seal, "obstacles": rows}
    accepted = [f"accepted: {each}" for each in obstacles if each not in open_]
    verdict = [_aside(each) for each in open_] if open_ else [f"{wanted.month} can be signed"]
    return Answer(document, *accepted, *verdict, exit_code=EXIT_FAILED if open_ else 0)


async def _allowed_draft(wanted: Close) -> Draft:
    """Raises `Refused` where the actor may not close, or the month cannot be closed."""
    async with actor() as at:
        at.check(Deed.CLOSE_BOOKS)
        check_close(await MonthCloses(at.pool).all(), wanted.month)
    return await _draft(wanted)


async def _draft(wanted: Close) -> Draft:
    month, now = wanted.month, SystemClock().now()
    mapping = read_mapping(wanted.papers.mapping.decode(errors="replace"))
    async with reading(f"the books of {month}") as (connection, book):
        where = await homes(connection, book, now)
        books = await rollforward(connection, where, month, _BY)
        stands = await readiness(connection, where, month, now)
        assumed = await assumptions(connection)
    since, until = min(where.begin(month.first_day), default=now), max(where.end(month.last_day), default=now)
    obstacles = [*stands.obstacles, *reconciled(wanted.papers.account, since, until)]
    if not books.tied:
        obstacles.append(Obstacle("not-tied", "the books do not tie to the accounts; see `abacus report rollforward`"))
    lines = journal(books.movements, month, mapping, assumed, decimals=wanted.decimals)
    rows = sheet("rows", "", Movement, books.movements, not_asked_for(_BY))
    files = {
        f"rollforward-{month}.csv": sheet_csv(rows).encode(),
        f"journal-{month}.csv": sheet_csv(sheet("rows", "", JournalLine, lines)).encode(),
    }
    return Draft(files, obstacles, stands.seal)


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
