"""A partner without a server: files at their time, and answers that are believed wholly or not at all."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from uuid import UUID

import pytest

from abacus.core.errors import Refused, Unavailable
from abacus.exchanges.carriers.files.file_keeper import FileKeeper
from abacus.exchanges.carriers.files.file_partner import FilePartner
from abacus.exchanges.carriers.files.file_rows import FileRow, FileRows
from abacus.exchanges.decide.heard import Cancelled, Credited, Heard, Pending, Rejected
from abacus.exchanges.decide.programme import ByFile, Programme
from abacus.exchanges.decide.transfer_file import FileName, digest
from abacus.exchanges.types import Account, Transfer
from abacus.platform.postgres import Pool
from tests.support.exchange_rows import PROGRAMME, enter, exchange
from tests.support.fixed_clock import FixedClock

DAY = date(2026, 7, 10)
BEFORE, BEHIND = (datetime(2026, 7, 10, hour, tzinfo=UTC) for hour in (8, 10))  # of 17:00 in Singapore
NAME = FileName("skyline", DAY, 1)


class House:
    """The files of one programme in a folder, and what their partner said."""

    def __init__(self, pool: Pool, folder: Path) -> None:
        self.pool, self.folder, self.clock = pool, folder, FixedClock(BEHIND)
        carrier = ByFile(str(folder), time(17))
        self.programme = replace(PROGRAMME, carrier=carrier)
        self.rows = FileRows(pool)
        self.partner = FilePartner(self.programme, carrier, self.rows, self.clock)
        self.heard: list[tuple[UUID, Heard]] = []

    async def step(self) -> int:
        """Of a process that has just begun."""
        keeper = FileKeeper(self.rows, self._programmes, self._accounts, self._tell, self.clock)
        async with self.pool.acquire() as connection:
            return await keeper.step(connection)

    async def put(self, *ids: int) -> list[UUID]:
        for n in ids:
            row = await enter(self.pool, exchange(exchange_id=UUID(int=n)))
            transfer = Transfer(row.exchange_id, Account("SK"), row.theirs, row.points, "skymiles@1", BEHIND)
            assert isinstance(await self.partner.put(transfer), Pending)
        return [UUID(int=n) for n in ids]

    def says(self, name: FileName, *results: str, credited: int = 0, lines: int | None = None) -> None:
        head = f"HEADER,1,skyline,{name.day:%Y%m%d},{name.seq:04},2026-07-10T20:00:00Z"
        end = f"TRAILER,{len(results) if lines is None else lines},{credited}"
        text = "\n".join([head, *(f"RESULT,{each}" for each in results), end])
        (self.folder / name.results).write_text(text, "utf-8")

    def receives(self, name: FileName, verdict: str = "accepted") -> None:
        whole = digest((self.folder / str(name)).read_bytes())
        (self.folder / name.receipt).write_text(f"RECEIPT,{name},{whole},{verdict}", "utf-8")

    async def files(self) -> list[FileRow]:
        return (await self.rows.listed("skymiles", 10))[::-1]

    async def _programmes(self) -> list[Programme]:
        return [self.programme]

    async def _accounts(self, links: Sequence[UUID]) -> dict[UUID, Account]:
        return dict.fromkeys(links, Account("SK-1"))

    async def _tell(self, heard: Sequence[tuple[UUID, Heard]]) -> None:
        self.heard += heard


@pytest.fixture
def house(pool: Pool, tmp_path: Path) -> House:
    return House(pool, tmp_path)


async def test_a_file_a_day_goes_out_at_its_cut_off_and_empty_ones_too(house: House) -> None:
    house.clock.set(BEFORE)
    assert await house.step() == 1  # yesterday's, which is empty
    ids = await house.put(2, 1)
    assert await house.step() == 0
    house.clock.set(BEHIND)
    assert await house.step() == 1
    lines = (house.folder / str(NAME)).read_text("utf-8").splitlines()
    assert lines[0] == "HEADER,1,skyline,20260710,0001,2026-07-10T10:00:00Z"
    assert lines[1:] == [*(f"TRANSFER,{each},SK-1,,1000,2500,skymiles@1" for each in sorted(ids)), "TRAILER,2,2000"]
    assert (house.folder / NAME.digest_file).read_text("utf-8").endswith(f"  {NAME}\n")
    assert [(each.day, each.lines, each.amount) for each in await house.files()] == [
        (DAY - timedelta(days=1), 0, 0),
        (DAY, 2, 2000),
    ]


async def test_results_are_told_once_all_is_believed(house: House) -> None:
    first, second = await house.put(1, 2)
    await house.step()
    house.receives(NAME)
    house.says(NAME, f"{first},credited,1000,M-1", f"{second},rejected,account-closed", credited=999)
    await house.step()
    assert await house.step() == 0
    assert house.heard == []
    assert "the trailer says 2 lines and 999" in ((await house.files())[0].fault or "")
    house.says(NAME, f"{first},credited,1000,M-1", credited=1000)  # some lines now
    assert await house.step() == 1
    assert house.heard == [(first, Credited(1000, "M-1"))]
    assert await house.step() == 0
    house.says(NAME, f"{first},credited,1000,M-1", f"{second},rejected,account-closed", credited=1000)
    assert await house.step() == 1
    assert house.heard[1:] == [(first, Credited(1000, "M-1")), (second, Rejected("account-closed"))]
    [file] = await house.files()
    assert (file.results, file.answered_at, file.fault) == (2, BEHIND, None)


async def test_a_file_that_is_refused_goes_into_the_next_one(house: House) -> None:
    [id_] = await house.put(1)
    await house.step()
    house.receives(NAME, "refused,unknown programme")
    await house.step()
    house.clock.set(BEHIND + timedelta(days=1))
    await house.step()
    refused, again = await house.files()
    assert (refused.accepted, refused.reason, again.lines) == (False, "unknown programme", 1)
    assert str(id_) in (house.folder / again.name).read_text("utf-8")


async def test_a_file_that_was_cut_off_is_written_as_it_was_made(house: House) -> None:
    await house.put(1)
    await house.rows.make("skymiles", "skyline", DAY, BEHIND, 10)  # the process dies here
    await house.step()
    text = (house.folder / str(NAME)).read_bytes()
    await house.pool.execute("update exchange_file set written_at = null")  # and here
    await house.put(2)
    await house.step()
    assert (house.folder / str(NAME)).read_bytes() == text
    await house.pool.execute("update exchange_file set written_at = null, digest = 'other'")
    await house.step()
    assert "would not be written as it was made" in ((await house.files())[0].fault or "")


async def test_a_receipt_of_other_bytes_is_not_believed(house: House) -> None:
    await house.step()
    (house.folder / NAME.receipt).write_text(f"RECEIPT,{NAME},abc,accepted", "utf-8")
    await house.step()
    [file] = await house.files()
    assert (file.received_at, "it is about abc" in (file.fault or "")) == (None, True)


async def test_an_id_stands_once_in_a_file_and_what_is_asked_again_is_asked_once(house: House) -> None:
    [id_] = await house.put(1)
    await house.partner.cancel(id_)
    await house.partner.cancel(id_)
    await house.step()
    house.clock.set(BEHIND + timedelta(days=1))
    await house.step()
    first, second = await house.files()
    assert (first.lines, second.lines) == (1, 1)
    following = second.file_name("skyline")
    assert f"CANCEL,{id_}" in (house.folder / str(following)).read_text("utf-8")
    house.receives(following)
    house.says(following, f"{id_},cancelled")
    await house.step()
    await house.step()
    assert house.heard == [(id_, Cancelled())]


async def test_statements_are_files_too(house: House) -> None:
    with pytest.raises(Unavailable, match="there is no skyline_20260710"):
        await house.partner.statement(DAY)
    path = house.folder / "skyline_20260710.statement.csv"
    path.write_text("HEADER,1,skyline,20260710,x\nTRAILER,1,0", "utf-8")
    with pytest.raises(Refused, match="the trailer says 1 lines"):
        await house.partner.statement(DAY)
    path.write_text("HEADER,1,skyline,20260710,x\nTRAILER,0,0", "utf-8")
    assert (await house.partner.statement(DAY)).lines == []


async def test_a_place_that_is_away_holds_up_nothing(house: House) -> None:
    [id_] = await house.put(1)
    house.folder.rmdir()
    house.folder.write_text("in its place", "utf-8")
    assert await house.step() == 0
    house.folder.unlink()
    assert await house.step() == 1
    assert str(id_) in (house.folder / str(NAME)).read_text("utf-8")
