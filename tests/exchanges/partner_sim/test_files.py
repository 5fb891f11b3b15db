"""The reference partner answers files, from the ledger of its routes, and errs where it is asked to."""

from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from abacus.exchanges.decide.heard import Cancelled, Credited, NotTakenBack, Rejected, TakenBack
from abacus.exchanges.decide.invented_accounts import CLOSED
from abacus.exchanges.decide.transfer_file import (
    FileFault,
    FileName,
    Line,
    Orders,
    Receipt,
    digest,
    digest_text,
    file_text,
    read_file,
    read_receipt,
    read_results,
    read_statement,
    statement_name,
)
from abacus.exchanges.partner_sim.behaviour import Behaviour, Fates
from abacus.exchanges.partner_sim.books import Books
from abacus.exchanges.partner_sim.files import FolderPartner
from abacus.exchanges.partner_sim.transfers import ledger
from abacus.exchanges.types import Account, StatementState, Transfer
from abacus.platform.object_places import Folder
from tests.support.fixed_clock import FixedClock

DAY = date(2026, 11, 28)
AT = datetime(2026, 11, 28, 9, tzinfo=UTC)
IDS = [UUID(int=n) for n in range(1, 6)]
PUT = Orders(
    [
        Transfer(IDS[0], Account("SK-1", "Ann Tan"), 1000, 2500, "skymiles@1", AT),
        Transfer(IDS[1], Account(CLOSED), 400, 1000, "skymiles@1", AT),
    ],
    cancels=[IDS[2]],
    reversals=[IDS[3]],
)


class Desk:
    """Writes files as the house does, and reads the answers."""

    def __init__(self, folder: Path, books: Books) -> None:
        self.folder, self.books, self.fates, self.clock = folder, books, Fates(), FixedClock(AT)
        self.partner = FolderPartner(Folder(folder), books, self.fates, self.clock)

    def writes(self, seq: int, orders: Orders, *, whole: bytes | None = None) -> FileName:
        name = FileName("skyline", DAY, seq)
        text = file_text(name, AT, orders)
        (self.folder / str(name)).write_bytes(text)
        (self.folder / name.digest_file).write_bytes(digest_text(name, text if whole is None else whole))
        return name

    def receipt(self, name: FileName) -> Receipt:
        return read_receipt(name, (self.folder / name.receipt).read_bytes())

    async def credited(self) -> dict[str, int]:
        return {each["number"]: each["balance"] for each in (await self.books.do(ledger))["accounts"]}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    books = Books()
    yield Desk(tmp_path, books)
    await books.close()


async def test_a_file_is_answered_once_and_line_by_line(desk: Desk) -> None:
    name = desk.writes(1, PUT)
    assert await desk.partner.step() == 1
    assert desk.receipt(name) == Receipt(digest((desk.folder / str(name)).read_bytes()), accepted=True, reason=None)
    asked = dict(zip(IDS, (Line.TRANSFER, Line.TRANSFER, Line.CANCEL, Line.REVERSE), strict=False))
    first = (desk.folder / name.results).read_bytes()
    heard = {id_: each.heard for id_, each in read_results(name, first, asked).items()}
    assert isinstance(heard[IDS[0]], Credited)
    assert isinstance(heard[IDS[1]], Rejected)
    assert isinstance(heard[IDS[2]], Cancelled)
    assert IDS[3] not in heard, "an id that never came cannot be taken back, and nothing is said of it"
    assert await desk.partner.step() == 0
    (desk.folder / name.receipt).unlink()
    assert await desk.partner.step() == 1
    assert ((desk.folder / name.results).read_bytes(), await desk.credited()) == (first, {"SK-1": 1000})


async def test_what_was_credited_is_taken_back_by_a_later_file(desk: Desk) -> None:
    desk.writes(1, PUT)
    later = desk.writes(2, Orders(reversals=[IDS[0], IDS[1]]))
    assert await desk.partner.step() == 2
    asked = dict.fromkeys(IDS[:2], Line.REVERSE)
    heard = {
        id_: each.heard for id_, each in read_results(later, (desk.folder / later.results).read_bytes(), asked).items()
    }
    assert isinstance(heard[IDS[0]], TakenBack)
    assert isinstance(heard[IDS[1]], NotTakenBack)
    assert await desk.credited() == {"SK-1": 0}


async def test_a_day_that_is_over_has_a_statement(desk: Desk) -> None:
    desk.writes(1, PUT)
    await desk.partner.step()
    assert not (desk.folder / statement_name("skyline", DAY)).exists()
    desk.clock.set(AT + timedelta(days=1))
    await desk.partner.step()
    stated = read_statement("skyline", DAY, (desk.folder / statement_name("skyline", DAY)).read_bytes())
    assert {each.id: each.state for each in stated.lines} == {
        str(IDS[0]): StatementState.CREDITED,
        str(IDS[1]): StatementState.REJECTED,
        str(IDS[2]): StatementState.CANCELLED,
    }


async def test_a_file_that_is_not_whole_is_refused(desk: Desk) -> None:
    name = desk.writes(1, PUT, whole=b"another")
    await desk.partner.step()
    assert not desk.receipt(name).accepted
    assert (await desk.credited(), (desk.folder / name.results).exists()) == ({}, False)


@pytest.mark.parametrize(
    ("behaviour", "fault"),
    [(Behaviour(wrong_sums=True), "trailer"), (Behaviour(unknown_lines=True), "does not stand in")],
)
async def test_it_errs_in_results(desk: Desk, behaviour: Behaviour, fault: str) -> None:
    desk.fates.change(behaviour)
    name = desk.writes(1, PUT)
    await desk.partner.step()
    with pytest.raises(FileFault, match=fault):
        read_results(name, (desk.folder / name.results).read_bytes(), dict.fromkeys(IDS, Line.TRANSFER))


async def test_it_refuses_files(desk: Desk) -> None:
    desk.fates.change(Behaviour(refuses_files=True))
    name = desk.writes(1, PUT)
    await desk.partner.step()
    assert desk.receipt(name)[1:] == (False, "no files are taken")
    assert await desk.credited() == {}


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (f"TRANSFER,{IDS[0]},SK-1,,1000,2500", "line 2: TRANSFER,ID"),
        (f"PAY,{IDS[0]}", "line 2: TRANSFER,ID"),
        (f"CANCEL,{IDS[0]}\nCANCEL,{IDS[0]}", "line 3: .* stands twice"),
        (f"TRANSFER,{IDS[0]},SK-1,,1000,2500,skymiles@1", "trailer"),
    ],
)
def test_no_file_of_transfers(line: str, fault: str) -> None:
    name = FileName("skyline", DAY, 1)
    text = f"HEADER,1,skyline,20261128,0001,2026-11-28T09:00:00Z\n{line}\nTRAILER,1,0\n".encode()
    with pytest.raises(FileFault, match=fault):
        read_file(name, text)
