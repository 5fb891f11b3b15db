"""Errands: who may see one and end it, what a page makes of its document, and the commands that are run for real."""

import asyncio
import csv
import io
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from abacus.console.cleanup import KEPT, tidy
from abacus.console.decide.tasks import about_of, words_of
from abacus.console.errands.command import ERRAND_TOKEN, actor_of
from abacus.console.errands.decide.command_output import command_line, progress_in, state_of, told_in
from abacus.console.errands.decide.documents import csv_of, facts_of, tables_of
from abacus.console.errands.decide.file_names import file_name
from abacus.console.errands.store import LOST_AFTER, ErrandStore
from abacus.console.errands.types import Errand, ErrandOutcome, Order, Room, State, TooMany
from abacus.core.errors import Refused
from abacus.people.store.people import PeopleStore
from abacus.platform.postgres import Pool
from tests.console.asking import DOCUMENT, FILE, ORDER, TABLE, errand
from tests.console.desk import Desk, desk
from tests.console.errand_runner import running
from tests.support.house import House, until

LIST = Order("rates", "all", None, ("rates", "list", "--json"))


async def ended(open_desk: Desk, errand_id: UUID) -> Errand:
    async def found() -> Errand:
        errand = await open_desk.rooms[ErrandStore].find(errand_id)
        assert errand is not None
        return errand

    await until(lambda: is_over(found))
    return await found()


async def is_over(found: Callable[[], Awaitable[Errand]]) -> bool:
    return not (await found()).state.is_open


async def asked(open_desk: Desk, order: Order, by: str = "ann") -> UUID:
    errand_id = uuid4()
    return await open_desk.rooms[ErrandStore].ask(errand_id, order, by)


@pytest.mark.long
async def test_commands_run_as_the_person_and_their_papers_and_files_are_there(house: House, pool: Pool) -> None:
    async with desk(pool) as open_desk, running(open_desk, house):
        await open_desk.hire("ann", "support")
        store = open_desk.rooms[ErrandStore]
        listed = await ended(open_desk, await asked(open_desk, LIST))
        assert (listed.state, listed.exit_code, listed.told) == (State.DONE, 0, None)
        document = await store.output(listed.errand_id)
        assert {each["scope"] for each in document} >= {"SG", "ID"}
        # By the person's rights, not by those of the login that runs the console.
        refused = await ended(open_desk, await asked(open_desk, Order("seal", "", None, ("ledger", "seal", "--json"))))
        assert (refused.state, refused.exit_code) == (State.FAILED, 2)
        assert "ann may not seal" in (refused.told or "")
        linted = Order("lint", "a.toml", None, ("rates", "lint", "a.toml", "--json"), {"../a.toml": "nothing = 1"})
        faulty = await ended(open_desk, await asked(open_desk, linted))
        assert "a.toml" in str(await store.output(faulty.errand_id)) + (faulty.told or "")
        kept = Order(
            "ageing", "", None, ("report", "ageing", "--json", "--parquet=due.parquet"), keeps=("due.parquet",)
        )
        done = await ended(open_desk, await asked(open_desk, kept))
        assert (done.told, await store.files(done.errand_id)) == (None, ["due.parquet"])
        assert (await store.file(done.errand_id, "due.parquet") or b"").startswith(b"PAR1")


@pytest.mark.long
async def test_a_command_ends_with_its_errand_or_with_the_console(house: House, pool: Pool) -> None:
    forever = Order("counts", "", None, ("worker", "counts"))
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "admin")
        store = open_desk.rooms[ErrandStore]
        async with running(open_desk, house, ABACUS_COUNTS_PORT="0"):
            first = await asked(open_desk, forever)
            second = await asked(open_desk, forever._replace(arguments=("worker", "counts", "counts")))

            async def both_run() -> bool:
                return {each.state for each in await store.newest("counts", "", limit=2)} == {State.RUNNING}

            await until(both_run)
            await store.cancel(first, by="ann")
            cancelled = await ended(open_desk, first)
            assert (cancelled.state, cancelled.told) == (State.CANCELLED, "cancelled by ann")
        stopped = await store.find(second)
        assert stopped is not None
        assert (stopped.state, stopped.told) == (
            State.FAILED,
            "the console was stopped while it ran; ask for it again",
        )


async def test_the_token_of_an_errand_holds_while_it_runs(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.hire("ann", "support")
        store, runner, token = open_desk.rooms[ErrandStore], uuid4(), ERRAND_TOKEN.new()
        await asked(open_desk, LIST)
        taken = await store.take(runner, token)
        assert taken is not None
        assert await store.take(runner, ERRAND_TOKEN.new()) is None
        assert (await actor_of(token.text, pool, open_desk.rooms[PeopleStore])).source == "person:ann"
        with pytest.raises(Refused):
            await actor_of(f"{token.text[:-1]}_", pool, open_desk.rooms[PeopleStore])
        assert not await store.beat(taken.errand_id, uuid4(), "of another process")
        assert await store.beat(taken.errand_id, runner, "half of it")
        open_desk.clock.pass_(seconds=LOST_AFTER.total_seconds() + 1)
        await store.give_up_lost()
        lost = await store.find(taken.errand_id)
        assert lost is not None
        assert (lost.state, lost.progress) == (State.FAILED, "half of it")
        assert not await store.beat(taken.errand_id, runner, None)
        with pytest.raises(Refused, match="does not run any more"):
            await actor_of(token.text, pool, open_desk.rooms[PeopleStore])


def order(number: int, subject: str = "rows") -> Order:
    return Order("rates", subject, None, ("rates", "list", f"--from={number}"))


async def test_a_person_has_so_many_errands_and_no_more(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        clock = open_desk.clock
        store = ErrandStore(pool, clock, Room(open=3, in_an_hour=5))
        for number in range(3):
            await store.ask(uuid4(), order(number), "ann")
        with pytest.raises(TooMany, match="3 tasks of yours wait or run; wait until one has ended, or cancel one"):
            await store.ask(uuid4(), order(3), "ann")
        await store.ask(uuid4(), order(3), "ben")
        for number in (3, 4):
            (open_one, *_) = await store.newest("rates", "rows")
            await store.cancel(open_one.errand_id, by="ann")
            open_errands = [each for each in await store.all(None, after=None, limit=9) if each.state.is_open]
            for each in open_errands:
                await store.cancel(each.errand_id, by="ann")
            await store.ask(uuid4(), order(number), "ann")
        with pytest.raises(TooMany, match="You asked for 5 tasks in the last hour"):
            await store.ask(uuid4(), order(5), "ann")
        clock.pass_(seconds=3601)
        await store.ask(uuid4(), order(5), "ann")


async def test_of_many_at_once_no_more_pass(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        store = ErrandStore(pool, open_desk.clock, Room(open=3, in_an_hour=60))
        answers = await asyncio.gather(
            *(store.ask(uuid4(), order(number), "ann") for number in range(12)), return_exceptions=True
        )
        assert Counter(type(each) for each in answers) == {UUID: 3, TooMany: 9}


async def test_the_same_order_is_one_errand_while_it_is_open(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        store = open_desk.rooms[ErrandStore]
        first = await asked(open_desk, ORDER)
        assert await asked(open_desk, ORDER) == first
        assert await asked(open_desk, ORDER._replace(papers={"a.toml": "x = 2"})) != first
        assert await asked(open_desk, ORDER, "ben") != first, "it runs by the roles of the person"
        at_once = await asyncio.gather(*(store.ask(uuid4(), order(1), "ann") for _ in range(5)))
        assert len(set(at_once)) == 1
        await store.cancel(first, by="ann")
        assert await asked(open_desk, ORDER) != first


async def test_persons_take_turns(pool: Pool) -> None:
    """Ann asks for many first; each of a process's places goes to the person who waited longest for one."""
    async with desk(pool) as open_desk:
        store, runner = open_desk.rooms[ErrandStore], uuid4()
        for by, number in (*(("ann", number) for number in range(4)), ("ben", 0), ("cat", 0), ("ben", 1)):
            await store.ask(uuid4(), order(number), by)
            open_desk.clock.pass_(seconds=1)
        taken = []
        for _ in range(7):
            errand = await store.take(runner, ERRAND_TOKEN.new())
            assert errand is not None
            taken.append((errand.asked_by, errand.arguments[-1][-1]))
            await store.end(errand.errand_id, runner, ErrandOutcome(State.DONE, 0, None))
            open_desk.clock.pass_(seconds=1)
        assert taken == [
            ("ann", "0"),
            ("ben", "0"),
            ("cat", "0"),
            ("ann", "1"),
            ("ben", "1"),
            ("ann", "2"),
            ("ann", "3"),
        ]


async def test_a_place_is_left_for_others(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        store, runner, other = open_desk.rooms[ErrandStore], uuid4(), uuid4()
        for number in range(4):
            await store.ask(uuid4(), order(number), "ann")
        assert (await store.waiting())[0] == 4
        taken = [await store.take(runner, ERRAND_TOKEN.new(), of_one=2) for _ in range(3)]
        assert [each is not None for each in taken] == [True, True, False]
        await store.ask(uuid4(), order(0), "ben")
        third = await store.take(runner, ERRAND_TOKEN.new(), of_one=2)
        assert third is not None
        assert third.asked_by == "ben"
        assert await store.take(other, ERRAND_TOKEN.new(), of_one=2) is not None, "another process has places, too"


async def test_a_page_tells_who_has_too_many(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "operator")
        for number in range(10):
            await open_desk.rooms[ErrandStore].ask(uuid4(), order(number), "ann")
        refused = await ann.send("/trust", "/trust/verify")
        assert refused.status_code == 429
        assert "10 tasks of yours wait or run" in refused.text


@pytest.mark.parametrize(
    ("kind", "subject", "table", "name"),
    [
        ("report-rollforward", "2026-06", "rows", "report-rollforward-2026-06-rows.csv"),
        ("report-liability", "2026-06-30", None, "report-liability-2026-06-30.csv"),
        ("report-liability", "", None, "report-liability-2026-07-02.csv"),
        ("close-check", "2026-06", "movements", "close-check-2026-06-movements.csv"),
        ("proof", "../bob", None, "proof-2026-07-02.csv"),
    ],
)
def test_a_file_has_its_month_or_day_in_its_name(kind: str, subject: str, table: str | None, name: str) -> None:
    asked_at = datetime(2026, 7, 2, tzinfo=UTC)
    assert file_name(Errand(uuid4(), kind, subject, None, "", [], "{}", [], "ann", asked_at), "csv", table) == name


async def test_pages_of_errands(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        errand_id = uuid4()
        await errand(open_desk, errand_id)
        ann, budi = await open_desk.inside("ann", "viewer:SG"), await open_desk.inside("budi", "viewer:ID")
        here = f"/tasks/{errand_id}"
        page, twin = await ann.see(here), (await ann.twin(here)).json()
        assert twin["done"]["document"] == DOCUMENT
        assert twin["command"] == "abacus rates timeline SG --json"
        assert "12,345" in page.text
        assert "&lt;script&gt;" in page.text
        assert "hx-trigger" not in page.text.partition('class="errand"')[2].partition("</section>")[0]
        table = await ann.see(f"{here}/tables/{TABLE}")
        assert list(csv.reader(io.StringIO(table.text))) == [["name", "points"], ["SG@1", "12345"], ["<script>", ""]]
        named = f"attachment; filename*=UTF-8''rates-{open_desk.clock.now().date()}-rows.csv"
        assert table.headers["content-disposition"] == named
        assert (await ann.see(f"{here}/files/{FILE}")).content == b"name,points\r\n"
        assert [each["errand_id"] for each in (await ann.twin("/tasks")).json()["list"]["rows"]] == [str(errand_id)]
        assert (await budi.twin("/tasks")).json()["list"]["rows"] == []
        for path in (here, f"{here}/tables/{TABLE}", f"{here}/files/{FILE}"):
            assert (await budi.twin(path)).status_code == 404
        assert (await ann.twin(f"{here}/files/other.csv")).status_code == 404
        assert (await ann.twin(f"{here}/tables/other")).status_code == 404


@pytest.mark.parametrize(
    ("query", "kinds"),
    [
        ("", ["rates", "verify"]),
        ("?state=done", ["rates"]),
        ("?kind=verify", ["verify"]),
        ("?country=SG", ["rates"]),
        ("?day=2026-01-01", []),
    ],
)
async def test_tasks_are_narrowed(pool: Pool, query: str, kinds: list[str]) -> None:
    async with desk(pool) as open_desk:
        await errand(open_desk, uuid4())
        ann = await open_desk.inside("ann", "operator")
        await ann.send("/trust", "/trust/verify")
        page = (await ann.twin(f"/tasks{query}")).json()
        words = {"rates": "Rates", "verify": "Ledger verified"}
        assert sorted(each["words"] for each in page["list"]["rows"]) == sorted(words[each] for each in kinds)
        assert page["kinds"] == [["", "any"], ["verify", "Ledger verified"], ["rates", "Rates"]]
        for wrong in ("state=lost", "kind=lie", "day=today"):
            assert (await ann.see(f"/tasks?{wrong}")).status_code == 422


@pytest.mark.parametrize(
    ("kind", "subject", "words", "about"),
    [
        ("campaign-backtest", "market 0123456789abcdef", "Campaign tried with earlier events", ("campaign", "market")),
        ("close-sign", "2026-06", "Signing of a month", ("month", "2026-06")),
        ("report-cohorts", "2026-06", "Report of cohorts", ("", "2026-06")),
    ],
)
def test_a_task_is_told_in_words(kind: str, subject: str, words: str, about: tuple[str, str]) -> None:
    assert (words_of(kind), about_of(kind, subject)) == (words, about)


async def test_who_may_cancel(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann, eve = await open_desk.inside("ann", "support:SG"), await open_desk.inside("eve", "support:SG")
        errand_id = await asked(open_desk, ORDER, "ann")
        here = f"/tasks/{errand_id}"
        shown = (await ann.see(here)).text
        assert 'hx-trigger="every 1s"' in shown
        token = {"form": shown.partition('name="form" value="')[2].partition('"')[0]}
        assert f'action="{here}/cancel"' not in (await eve.see(here)).text
        assert (await eve.client.post(f"{here}/cancel", data=token)).status_code == 403
        assert (await ann.send(here, f"{here}/cancel")).status_code == 303
        assert (await ann.twin(here)).json()["done"]["errand"]["state"] == "cancelled"


async def test_old_rows_go(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.inside("ann", "viewer")
        errand_id = uuid4()
        await errand(open_desk, errand_id)
        await tidy(pool, open_desk.clock)
        assert await open_desk.rooms[ErrandStore].find(errand_id) is not None
        open_desk.clock.pass_(seconds=(KEPT + timedelta(seconds=1)).total_seconds())
        await tidy(pool, open_desk.clock)
        assert await open_desk.rooms[ErrandStore].find(errand_id) is None
        assert await pool.fetchval("select count(*) from console_session") == 0
        assert await pool.fetchval("select count(*) from console_errand_file") == 0


@pytest.mark.parametrize(
    ("code", "output", "state"),
    [(0, b"{}", State.DONE), (1, b"{}", State.DONE), (2, b"{}", State.FAILED), (0, b" \n", State.FAILED)],
)
def test_a_command_is_done_when_it_printed_its_document(code: int, output: bytes, state: State) -> None:
    assert state_of(code, output) is state


@pytest.mark.parametrize(
    ("said", "progress", "told"),
    [
        ("", None, None),
        ("progress: 1 of 2\nprogress: 2 of 2\n", "2 of 2", None),
        ("progress: 1 of 2\nabacus: it is down\nabacus: twice\n", "1 of 2", "it is down\ntwice"),
    ],
)
def test_what_a_command_says_beside_its_document(said: str, progress: str | None, told: str | None) -> None:
    assert (progress_in(said.splitlines()), told_in(said)) == (progress, told)


def test_a_command_line_is_as_a_shell_reads_it() -> None:
    assert command_line(["rates", "lint", "a b.toml"]) == "abacus rates lint 'a b.toml'"


@pytest.mark.parametrize(
    ("document", "facts", "tables"),
    [
        (None, [], []),
        ({"a_b": 1, "c": {"d": True, "e": [1]}}, [("A b", 1), ("C d", True)], []),
        ([{"x": 1}, {"y": "2"}], [], [("rows", ["X", "Y"], [[1, None], [None, "2"]])]),
        ({"t": [{"x": {"y": 1}, "z": [1, 2]}], "none": []}, [], [("t", ["X", "Z"], [["y 1", "1, 2"]])]),
        ({"t": ["a", "b"]}, [], [("t", ["T"], [["a"], ["b"]])]),
    ],
)
def test_documents_as_facts_and_tables(document: object, facts: Sequence[object], tables: Sequence[object]) -> None:
    assert [(each.name, each.value) for each in facts_of(document)] == facts
    shown = [(each.name, [column.name for column in each.columns], each.rows) for each in tables_of(document)]
    assert shown == tables


def test_csv_of_lists() -> None:
    assert csv_of({"t": [{"x": 1, "y": "a,b"}]}, "t") == b'x,y\r\n1,"a,b"\r\n'
    assert csv_of({"t": 1}, "t") is None
