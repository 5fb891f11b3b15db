"""A partner without a server: files at their time, and answers that are believed wholly or not at all."""

import asyncio
import os
import threading
import time as clocks
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest
from structlog.testing import capture_logs

from abacus.core.errors import Refused, RightMissing, Unavailable
from abacus.exchanges.carriers.files.file_keeper import FileKeeper, Tell
from abacus.exchanges.carriers.files.file_partner import FilePartner
from abacus.exchanges.carriers.files.file_rows import FileRow, FileRows
from abacus.exchanges.decide.heard import Cancelled, Credited, Heard, NotTakenBack, Pending, Rejected, TakenBack
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

    def __init__(self, pool: Pool, folder: Path, name: str = "skymiles") -> None:
        self.pool, self.folder, self.clock = pool, folder, FixedClock(BEHIND)
        self.is_restored = False
        self.tell: Tell = self._tell
        carrier = ByFile(str(folder), time(17))
        self.programme = replace(PROGRAMME, name=name, carrier=carrier)
        self.rows = FileRows(pool)
        self.partner = FilePartner(self.programme, carrier, self.rows, self.clock)
        self.heard: list[tuple[UUID, Heard]] = []

    async def step(self) -> int:
        """Of a process that has just begun."""
        return await self.step_of(self.keeper())

    async def step_of(self, keeper: FileKeeper) -> int:
        async with self.pool.acquire() as connection:
            return await keeper.step(connection)

    def keeper(self, *others: "House", within_s: float = 30, turn_s: float = 30) -> FileKeeper:
        """Of these programmes."""

        async def programmes() -> list[Programme]:
            return [each.programme for each in (self, *others)]

        return FileKeeper(
            self.rows,
            programmes,
            self._accounts,
            self.tell,
            self.clock,
            is_stopped=self._is_stopped,
            within_s=within_s,
            turn_s=turn_s,
        )

    async def put(self, *ids: int) -> list[UUID]:
        for n in ids:
            row = await enter(self.pool, exchange(exchange_id=UUID(int=n), programme=self.programme.name))
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
        return (await self.rows.listed(self.programme.name, 10))[::-1]

    async def _tell(self, heard: Sequence[tuple[UUID, Heard]]) -> None:
        self.heard += heard

    async def _is_stopped(self) -> bool:
        return self.is_restored

    async def _accounts(self, links: Sequence[UUID]) -> dict[UUID, Account]:
        return dict.fromkeys(links, Account("SK-1"))


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
    (house.folder / NAME.receipt).write_text(f"RECEIPT,{NAME},{'abcd' * 16},accepted", "utf-8")
    await house.step()
    [file] = await house.files()
    assert (file.received_at, "it is about abcd" in (file.fault or "")) == (None, True)


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


async def test_nothing_is_done_while_the_house_is_restored_and_not_matched(house: House) -> None:
    await house.put(1)
    house.is_restored = True
    assert await house.step() == 0
    assert (await house.files(), list(house.folder.iterdir())) == ([], [])
    house.is_restored = False
    assert await house.step() == 1


@pytest.mark.parametrize("is_picked_up", [False, True])
async def test_no_file_is_put_over_another(house: House, *, is_picked_up: bool) -> None:
    """The house was restored: it has forgotten the file of the day, and makes another one."""
    [id_] = await house.put(1)
    before = b"what the house wrote before it was restored"
    (house.folder / str(NAME)).write_bytes(before)
    if is_picked_up:
        house.receives(NAME)
        (house.folder / str(NAME)).unlink()
    assert await house.step() == 1
    assert is_picked_up or (house.folder / str(NAME)).read_bytes() == before
    assert not (house.folder / NAME.digest_file).exists()
    [taken] = await house.files()
    assert (taken.accepted, taken.written_at) == (False, None)
    assert "another file of this name was there" in (taken.reason or "")
    following = await house.rows.make("skymiles", "skyline", DAY, BEHIND, 10)
    await house.step()
    assert (following.seq, following.lines) == (2, 1)
    assert str(id_) in (house.folder / following.name).read_text("utf-8")


async def test_what_was_answered_may_be_asked_again(house: House) -> None:
    first, second = await house.put(1, 2)
    await house.partner.reverse(first)
    await house.partner.cancel(second)
    for n, results in enumerate(
        [
            (f"{first},credited,1000,M-1", f"{second},credited,1000,M-2"),
            (f"{first},not-reversed,spent", f"{second},credited,900,M-2"),
        ]
    ):
        house.clock.set(BEHIND + timedelta(days=n))
        name = NAME._replace(day=DAY + timedelta(days=n))
        await house.step()
        house.receives(name)
        await house.step()
        await house.partner.reverse(first)  # a line of a file that is not answered, or waits, stays where it is
        await house.partner.cancel(second)
        house.says(name, *results, credited=2000 - 1100 * n)
        assert await house.step() == 1
    assert [each.lines for each in await house.files()] == [2, 2]
    assert house.heard[2:] == [(first, NotTakenBack("spent")), (second, Credited(900, "M-2"))]
    await asyncio.gather(*(house.partner.reverse(first) for _ in range(3)))
    await house.partner.cancel(second)
    house.clock.set(BEHIND + timedelta(days=2))
    await house.step()
    name = NAME._replace(day=DAY + timedelta(days=2))
    lines = (house.folder / str(name)).read_text("utf-8").splitlines()
    assert lines[1:] == [f"CANCEL,{second}", f"REVERSE,{first}", "TRAILER,2,0"]
    house.receives(name)
    house.says(name, f"{first},reversed", f"{second},cancelled")
    await house.step()
    await house.step()
    assert house.heard[4:] == [(first, TakenBack()), (second, Cancelled())]


async def test_two_programmes_of_a_partner_have_files_of_their_own(house: House) -> None:
    other = House(house.pool, house.folder, "skymiles-vn")
    [ours], [theirs] = await house.put(1), await other.put(2)
    assert await house.step_of(house.keeper(other)) == 2
    [file], [of_other] = await house.files(), await other.files()
    assert {file.name, of_other.name} == {str(NAME), str(NAME._replace(seq=2))}
    for row, id_ in (file, ours), (of_other, theirs):
        assert str(id_) in (house.folder / row.name).read_text("utf-8")
        house.receives(row.file_name("skyline"))
        house.says(row.file_name("skyline"), f"{theirs},credited,1000,M-1", credited=1000)
    await house.step_of(house.keeper(other))
    await house.step_of(house.keeper(other))
    assert house.heard == [(theirs, Credited(1000, "M-1"))]  # once, by the file that asked for it
    assert f"{theirs} does not stand in {file.name}" in ((await house.files())[0].fault or "")
    assert (await house.rows.latest_day("skymiles"), await house.rows.latest_day("skymiles-vn")) == (DAY, DAY)
    made = await asyncio.gather(
        *(house.rows.make(each.programme.name, "skyline", DAY, BEHIND, 10) for each in (house, other) * 3),
        house.rows.make("partner-of-alike", "skyline_20260710", DAY, BEHIND, 10),
    )
    assert sorted(each.seq for each in made[:-1]) == [3, 4, 5, 6, 7, 8]
    assert made[-1].seq == 1


async def test_a_fault_of_one_programme_is_put_aside_and_the_others_go_on(house: House) -> None:
    other = House(house.pool, house.folder, "skymiles-vn")
    [ours], [theirs] = await house.put(1), await other.put(2)
    fault: Exception = asyncpg.DataError("invalid byte sequence")
    asked = list[UUID]()

    async def tell(heard: Sequence[tuple[UUID, Heard]]) -> None:
        asked.extend(id_ for id_, _ in heard)
        if ours in dict(heard):
            raise fault

    house.tell = tell
    keeper = house.keeper(other)
    await house.step_of(keeper)
    for each, id_ in (house, ours), (other, theirs):
        [file] = await each.files()
        house.receives(file.file_name("skyline"))
        house.says(file.file_name("skyline"), f"{id_},rejected,account-closed")
    house.clock.set(BEHIND + timedelta(seconds=10))
    assert await house.step_of(keeper) == 2
    house.clock.set(BEHIND + timedelta(seconds=20))
    with capture_logs() as logs:
        assert await house.step_of(keeper) == 1
    assert [(each["event"], each["programme"]) for each in logs] == [("files put aside", "skymiles")]
    assert sorted(asked) == [ours, theirs]
    house.clock.set(BEHIND + timedelta(seconds=30))
    assert await house.step_of(keeper) == 0
    assert len(asked) == 2  # not yet again
    fault = Unavailable("ledger", "it cannot be posted")
    house.clock.set(BEHIND + timedelta(minutes=5))
    assert await house.step_of(keeper) == 0
    for fault in (Unavailable("database", "away"), RightMissing("no right")):  # of the house, not of the programme
        house.clock.set(house.clock.now() + timedelta(minutes=5))
        with pytest.raises(type(fault)):
            await house.step_of(keeper)


async def test_a_place_that_never_answers_holds_up_no_other(house: House, tmp_path: Path) -> None:
    other = House(house.pool, tmp_path / "other", "skymiles-vn")
    keeper = house.keeper(other, within_s=0.3)
    pipe = house.folder / f".{NAME}.{os.getpid()}"
    os.mkfifo(pipe)  # to open it for writing hangs until somebody reads
    await house.rows.make("skymiles", "skyline", DAY, BEHIND, 10)
    begun = clocks.monotonic()
    assert await house.step_of(keeper) == 1
    house.clock.set(BEHIND + timedelta(minutes=1))
    following = await other.rows.make("skymiles-vn", "skyline", DAY, BEHIND, 10)
    assert await house.step_of(keeper) == 1
    assert clocks.monotonic() - begun < 5
    assert (other.folder / following.name).exists()
    [hung] = [each for each in threading.enumerate() if each.name == f"in {house.folder}"]
    os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))  # it answers again
    await asyncio.to_thread(hung.join)
    pipe.unlink()
    house.clock.set(BEHIND + timedelta(minutes=2))
    assert await house.step_of(keeper) == 1
    assert (house.folder / str(NAME)).exists()


async def test_where_a_place_is_slow_each_file_has_its_turn(house: House) -> None:
    """Those before it wait for their answers."""
    for day in range(3):
        house.clock.set(BEHIND + timedelta(days=day))
        await house.step()
    files = [each.file_name("skyline") for each in await house.files()]
    keeper = house.keeper(turn_s=0)
    house.receives(files[1])
    house.receives(files[2])
    received = []
    for _ in files:
        house.clock.set(house.clock.now() + timedelta(minutes=1))
        await house.step_of(keeper)
        received.append([each.received_at is not None for each in await house.files()])
    assert received == [[False, False, False], [False, True, False], [False, True, True]]
