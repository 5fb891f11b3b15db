"""The books of a month as they would be signed: their files, their sums, and what stands in the way."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.errors import Refused
from abacus.documents.types import documents
from abacus.oversight.closing.checks import readiness
from abacus.oversight.closing.decide.account_map import read_mapping
from abacus.oversight.closing.decide.journal import JournalLine, JournalSum, journal, lacking, sums_of
from abacus.oversight.closing.decide.journal_accounts import mapping_text
from abacus.oversight.closing.decide.obstacles import Obstacle, reconciled
from abacus.oversight.closing.decide.record import Act, Signed
from abacus.oversight.closing.kind import AccountsDesk
from abacus.oversight.reports.assumption_store import assumptions
from abacus.oversight.reports.benefits import benefits
from abacus.oversight.reports.decide.benefits import BenefitRow
from abacus.oversight.reports.decide.by import By, not_asked_for
from abacus.oversight.reports.decide.rollforward import Movement, Tie
from abacus.oversight.reports.decide.sheet import Sheet, sheet, sheet_csv
from abacus.oversight.reports.homes import homes
from abacus.oversight.reports.movements import rollforward
from abacus.platform.postgres import Connection
from abacus.pricing.decide.book import CardBook
from abacus.programs.expiry.decide.month import Month
from abacus.proof.decide.seal import Seal

_BY: Final = frozenset({By.COUNTRY})


class Papers(NamedTuple):
    """What a close is made with: the accounts of the journal, and the account of the month's messages."""

    accounts_name: str
    accounts: bytes
    account_name: str | None = None
    account: bytes | None = None

    @property
    def named(self) -> dict[str, bytes]:
        given = {self.accounts_name: self.accounts}
        if self.account_name is not None and self.account is not None:
            given[self.account_name] = self.account
        return given


class MonthBooks(NamedTuple):
    """The close writes `files`. `movements` are by program and country, and so are their `ties`.
    `benefits` are what offers gave and rewards cost; only a month that has some has a file of them.
    """

    month: Month
    papers: Papers
    files: Mapping[str, bytes]
    movements: Sheet
    ties: Sheet
    journal: Sequence[JournalSum]
    benefits: Sheet
    obstacles: Sequence[Obstacle]
    seal: Seal | None

    @property
    def hashes(self) -> dict[str, str]:
        """Of the files, and of the papers that they were made with."""
        kept = sorted({**self.files, **self.papers.named}.items())
        return {name: hashlib.sha256(content).hexdigest() for name, content in kept}

    def signed(self, *, by: str, at: datetime, reason: str) -> Signed:
        """As the record is to have it."""
        return Signed(
            month=self.month,
            number=0,
            act=Act.CLOSED,
            signed_by=by,
            signed_at=at,
            reason=reason,
            files=self.hashes,
            accepted=[str(each) for each in self.obstacles],
            seal=self.seal.number if self.seal else None,
            seal_hash=self.seal.hash.hex() if self.seal else None,
        )


async def published_accounts(desk: AccountsDesk, month: Month) -> tuple[str, bytes]:
    """The accounts that are published, as the file that the close keeps of them. Raises `Refused` without any."""
    records = await desk.records()
    if not records:
        raise Refused("no accounts of the journal are published; `abacus accounts publish` does that")
    return f"accounts-{month}.toml", mapping_text(documents(records)).encode()


async def month_books(
    connection: Connection, book: CardBook, month: Month, papers: Papers, *, decimals: int, now: datetime
) -> MonthBooks:
    """From one snapshot. Without an account or a cost there is no journal, and the obstacles say so. Raises `Refused`
    for accounts that cannot be read.
    """
    mapping = read_mapping(papers.accounts.decode(errors="replace"))
    where = await homes(connection, book, now)
    books = await rollforward(connection, where, month, _BY)
    stands = await readiness(connection, where, month, now)
    assumed = await assumptions(connection)
    since, until = min(where.begin(month.first_day), default=now), max(where.end(month.last_day), default=now)
    obstacles = [*stands.obstacles, *reconciled(papers.account, since, until)]
    if not books.tied:
        obstacles.append(Obstacle("not-tied", "the books do not tie to the accounts; see `abacus report rollforward`"))
    given = await benefits(connection, book, where, month, decimals=decimals, now=now)
    missing = lacking(books.movements, month, mapping, assumed)
    lines = [] if missing else journal(books.movements, month, mapping, assumed, decimals=decimals)
    by_payer = sheet("benefits", f"Offers and rewards in {month}", BenefitRow, given)
    movements = sheet("movements", f"Points in {month}", Movement, books.movements, not_asked_for(_BY))
    return MonthBooks(
        month=month,
        papers=papers,
        files={
            f"rollforward-{month}.csv": sheet_csv(movements).encode(),
            f"journal-{month}.csv": sheet_csv(sheet("journal", "", JournalLine, lines)).encode(),
            **({f"benefits-{month}.csv": sheet_csv(by_payer).encode()} if by_payer.rows else {}),
        },
        movements=movements,
        ties=sheet("ties", "Against the accounts", Tie, books.ties),
        journal=sums_of(lines),
        benefits=by_payer,
        obstacles=[*obstacles, *missing],
        seal=stands.seal,
    )
