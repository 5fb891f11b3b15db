"""Operations, the quarantine and the search: what they show, to whom, and that what others wrote is text."""

from uuid import uuid4

import asyncpg
import orjson
import pytest

from abacus.console.decide.named import Named
from abacus.console.decide.remedies import remedy_of
from abacus.console.decide.senders import member_in, sender_in
from abacus.console.watch.store import EVERY, WatchStore
from abacus.console.watch.watch import look
from abacus.core.errors import Reason
from abacus.oversight.status.sources import Places
from abacus.platform.postgres import Pool
from abacus.platform.presence.presence_note import Presence
from abacus.platform.presence.types import FailureNote, ProcessNote, Report, WorkerNote
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.quarantine.types import Item, Stage
from tests.console.desk import Desk, desk
from tests.support.slices import SLICES

SCRIPT = "<script>alert(1)</script>"


async def set_aside(open_desk: Desk, reason: Reason, text: str) -> Item:
    item = Item(
        Stage.TRANSACTION, f"kafka:{text}/0/1", reason, f"not so: {text}", text.encode(), key=f"txn:rides:{text}"
    )
    await open_desk.rooms[QuarantineStore].add([item])
    return item


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_a_remedy(reason: Reason) -> None:
    assert remedy_of(reason).endswith(".")


async def test_a_worker_that_does_not_run_is_a_problem_with_its_remedy(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        shown = (await ann.twin("/operations")).json()
        told = {(each["fault"], each["remedy"]) for each in shown["problems"]}
        assert ("no process runs the worker awarder", "start one: abacus worker awarder") in told
        assert shown["relay"]["value"]["waiting"] == 0
        assert (shown["jobs"]["value"], sorted(shown["not_read"])) == ([], ["groups", "queues"])


async def test_what_a_process_does_without_is_told(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        now = open_desk.clock.now()
        report = Report({"campaigner": WorkerNote("ready", "")}, {"service score": SCRIPT}, {}, None)
        note = ProcessNote(uuid4(), "host", 7, "0.1.0", now, now, report.text)
        await Presence(pool, open_desk.clock).note(note)
        shown = (await ann.see("/operations")).text
        assert ("service score" in shown, SCRIPT in shown) == (True, False)
        faults = [each["fault"] for each in (await ann.twin("/operations")).json()["problems"]]
        assert f"a process on host (pid 7) does without service score: {SCRIPT}" in faults


async def test_dead_letters_say_why_the_last_message_failed(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        now = open_desk.clock.now()
        note = ProcessNote(uuid4(), "host", 7, "0.1.0", now, now, Report({}, {}, {}, None).text)
        presence = Presence(pool, open_desk.clock)
        await presence.note(note, [FailureNote("abacus-award", f"KeyError: {SCRIPT}", now, 7)])
        await presence.leave(note.process_id)  # the reason outlives the worker that saw it
        shown = (await ann.twin("/dead-letters")).json()["given_up"]["value"]
        assert {each["queue"]: each["failure"] and each["failure"]["why"] for each in shown} == {
            "award": f"KeyError: {SCRIPT}",
            "retry": None,
            "expiry": None,
            "campaign-retry": None,
        }
        assert {each["letters"] for each in shown} == {None}  # the console knows no SQS
        page = (await ann.see("/dead-letters")).text
        assert ("at its 7. try" in page, SCRIPT in page) == (True, False)


async def test_waits_of_the_last_hour_are_charts(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann, clock = await open_desk.inside("ann", "viewer"), open_desk.clock
        report = Report({"awarder": WorkerNote("ready", "")}, {}, {"abacus-award": 7.5}, None)
        await Presence(pool, clock).note(
            ProcessNote(uuid4(), "host", 7, "0.1.0", clock.now(), clock.now(), report.text)
        )
        for _ in range(2):
            await look(open_desk.rooms[Places], open_desk.rooms[WatchStore], clock)
            clock.pass_(seconds=EVERY.total_seconds())
        charts = {each["title"]: each for each in (await ann.twin("/operations")).json()["charts"]}
        assert charts["The oldest message of the award queue"]["lines"][0]["values"] == [7.5, 7.5]
        assert len(charts) == 3  # of queues from which nobody receives nothing is known
        assert "an alert begins" in (await ann.see("/operations")).text


@pytest.mark.parametrize(("path", "status"), [("/operations", 200), ("/quarantine", 403), ("/where?key=T-1", 403)])
async def test_a_role_for_one_country_sees_its_jobs_alone(pool: Pool, path: str, status: int) -> None:
    async with desk(pool) as open_desk:
        await set_aside(open_desk, Reason.INVALID, "T-1")
        sue = await open_desk.inside("sue", "viewer:SG")
        answer = await sue.twin(path)
        assert answer.status_code == status
        if status == 200:
            shown = answer.json()
            assert (shown["workers"], shown["relay"], shown["undelivered"]) == (None, None, None)


SENT = orjson.dumps({"type": "transaction.completed", "source": "rides", "transaction_id": "T-1", "member_id": "bob"})


@pytest.mark.parametrize(
    ("body", "key", "sender", "member"),
    [
        (SENT, "txn:rides:T-1", Named("partner", "rides"), "bob"),
        (SENT, None, Named("partner", "rides"), "bob"),
        (b"{}", "event:weather:rain:7", Named("", "weather"), None),
        (b"{}", "campaign:market:x", Named("campaign", "market"), None),
        (b"\xff", None, None, None),
        (b"[1]", "", None, None),
        (b'{"member_id": 7}', "odd", None, None),
    ],
)
def test_a_message_names_its_sender_and_its_member(
    body: bytes, key: str | None, sender: Named | None, member: str | None
) -> None:
    assert (sender_in(body, key, {"rides"}), member_in(body)) == (sender, member)


async def test_what_is_set_aside_leads_to_its_sender_and_its_member(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await open_desk.partner("rides")
        item = Item(Stage.TRANSACTION, "kafka:t/0/1", Reason.INVALID, "no", SENT, key="txn:rides:T-1")
        await open_desk.rooms[QuarantineStore].add([item])
        ann = await open_desk.inside("ann", "viewer")
        for path in (f"/quarantine/items/{item.id}", "/quarantine"):
            assert '<a href="/partners/rides">rides</a>' in (await ann.see(path)).text
        assert '<a href="/members/bob">bob</a>' in (await ann.see(f"/quarantine/items/{item.id}")).text
        found = (await ann.see("/where?key=txn:rides:T-1")).text
        assert f'<a href="/quarantine/items/{item.id}">' in found


async def test_items_stand_under_their_reasons_with_remedies(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        for reason, text in [(Reason.INVALID, "T-1"), (Reason.INVALID, "T-2"), (Reason.UNKNOWN_TIER, "T-3")]:
            await set_aside(open_desk, reason, text)
        ann = await open_desk.inside("ann", "viewer")
        shown = (await ann.twin("/quarantine?reason=invalid")).json()
        assert [(each["reason"], each["items"], each["remedy"]) for each in shown["groups"]["value"]] == [
            ("invalid", 2, remedy_of(Reason.INVALID)),
            ("unknown-tier", 1, remedy_of(Reason.UNKNOWN_TIER)),
        ]
        assert {each["detail"] for each in shown["items"]["value"]["rows"]} == {"not so: T-1", "not so: T-2"}
        assert (await ann.see("/quarantine?reason=none-such")).status_code == 404


@pytest.mark.parametrize("path", ["/quarantine", f"/where?key=txn:rides:{SCRIPT}", f"/where?source={SCRIPT}&key=x"])
async def test_what_others_wrote_is_text(pool: Pool, path: str) -> None:
    async with desk(pool) as open_desk:
        await set_aside(open_desk, Reason.INVALID, SCRIPT)
        page = await (await open_desk.inside("ann", "viewer")).see(path)
        assert page.status_code == 200
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text
        assert "<script>alert" not in page.text


async def test_a_transaction_is_found_where_it_is(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        await set_aside(open_desk, Reason.INVALID, "T-1")
        ann = await open_desk.inside("ann", "viewer")
        shown = (await ann.twin("/where?key=txn:rides:T-1")).json()
        assert [len(part["value"]) for part in shown["places"].values()] == [0, 0, 1]
        assert shown["command"] == "abacus where txn:rides:T-1"
        assert (await ann.twin(f"/where?key={'x' * 300}")).status_code == 422


async def test_a_part_that_is_down_leaves_the_rest(pool: Pool, database_url: str) -> None:
    found_by = "claim" if SLICES == 1 else "key_slice"
    async with desk(pool) as open_desk:
        await set_aside(open_desk, Reason.INVALID, "T-1")
        ann = await open_desk.inside("ann", "viewer")
        owner = await asyncpg.connect(database_url)
        try:
            await owner.execute(f"alter table {found_by} rename to {found_by}_away")
        finally:
            await owner.close()
        shown = (await ann.twin("/where?key=txn:rides:T-1")).json()["places"]
        assert shown["ledger"]["down"]["dependency"] == "database"
        assert shown["ledger"]["down"]["since"]
        assert len(shown["quarantine"]["value"]) == 1


@pytest.mark.parametrize(("role", "seen"), [("viewer", ["ID", "SG"]), ("viewer:SG", ["SG"])])
async def test_the_first_page_has_the_overdue_jobs_of_ones_countries(pool: Pool, role: str, seen: list[str]) -> None:
    async with desk(pool) as open_desk:
        await pool.executemany(
            "insert into account_tier (member_id, program, tier, country, until)"
            " values ($1, 'GRP', 'gold', $2, date '2020-01-01')",
            [("jane", "SG"), ("joko", "ID")],
        )
        fresh = await open_desk.inside("eve", "viewer")
        open_desk.clock.pass_(minutes=1)  # the log has the time of the database
        assert (await fresh.twin("/operations")).json()["jobs"]["value"] == []  # no daily job has had its time
        open_desk.clock.pass_(days=2)
        ann = await open_desk.inside("ann", role)
        late = (await ann.twin("/operations")).json()["jobs"]["value"]
        assert [each["country"] for each in late] == seen
        assert {each["command"] for each in late} == {"abacus tiers roll --due"}
        assert "abacus tiers roll --due" in (await ann.see("/operations")).text
        assert "Overdue: tiers roll" in (await ann.see("/")).text


async def test_streams_and_queues_are_looked_into_by_the_command(pool: Pool) -> None:
    async with desk(pool) as open_desk:
        ann = await open_desk.inside("ann", "viewer")
        sent = await ann.send("/where?key=--T-1&source=rides", "/where")
        assert sent.headers["location"] == "/where?key=--T-1&source=rides"
        [errand] = await pool.fetch("select arguments from console_errand")
        assert errand["arguments"] == ["where", "--json", "--source=rides", "--", "--T-1"]
        shown = (await ann.twin(sent.headers["location"])).json()["everywhere"]["value"]["errand"]
        assert (shown["state"], shown["asked_by"]) == ("waiting", "ann")
        assert (await ann.twin("/where?key=T-2")).json()["everywhere"]["value"] is None
