"""Campaigns in Postgres: judged by what is published at each step, and never in force without two people."""

import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import asyncpg
import pytest

from abacus.core.errors import Refused
from abacus.core.fields import DocumentFaults
from abacus.documents.decide.states import Act, State, Status
from abacus.documents.stated import Change
from abacus.engage.campaigns.campaign_store import CampaignStore
from abacus.engage.campaigns.decide.campaign_reader import parse_campaign
from abacus.platform.postgres import Pool
from tests.support.campaigns import DAY, NOW, document, publications, publishing

pytestmark = pytest.mark.once

AROUND = publications()
BY_ANN = Change("person:ann", NOW)
BY_BEN = Change("person:ann", NOW, approved_by="person:ben")
WITHOUT_SOURCES = replace(AROUND, sources={name: AROUND.sources[name] for name in ("transactions", "points", "tiers")})
RIDES = publishing("rides", "rides/ride.done", "rides/ride.praised")


@pytest.fixture
def store(pool: Pool) -> CampaignStore:
    return CampaignStore(pool)


async def draft(store: CampaignStore, **changes: object) -> str:
    (drafted,) = await store.draft([parse_campaign(document(**changes), AROUND)], AROUND, BY_ANN)
    return drafted.label


async def test_it_is_judged_again_when_it_is_submitted_and_when_it_is_approved(store: CampaignStore) -> None:
    await store.draft([parse_campaign(RIDES, AROUND)], AROUND, BY_ANN)
    with pytest.raises(DocumentFaults, match="no source 'rides' is published"):
        await store.submit("rides", WITHOUT_SOURCES, BY_ANN)
    await store.submit("rides", AROUND, BY_ANN)
    with pytest.raises(DocumentFaults, match="no source 'rides' is published"):
        await store.approve("rides", 1, WITHOUT_SOURCES, BY_BEN)
    back = publishing("back", "rides/ride.praised", "rides/ride.done")
    await store.draft([parse_campaign(back, AROUND)], AROUND, BY_ANN)
    fault = "steps[0].do[0].publish: would set itself off without end: back → rides → back"
    with pytest.raises(DocumentFaults, match=re.escape(fault)):
        await store.submit("back", AROUND, BY_ANN)
    assert (await store.approve("rides", 1, AROUND, BY_BEN)).status is Status.APPROVED


async def test_what_is_in_force_is_known_by_its_label_and_answers_from_its_approval_on(store: CampaignStore) -> None:
    await draft(store)
    await store.submit("third_order", AROUND, BY_ANN)
    assert await store.in_force(NOW) == []
    await store.approve("third_order", 1, AROUND, BY_BEN)
    (running,) = await store.in_force(NOW)
    assert (running.label, running.approved_at) == ("third_order@1", NOW)
    (again,) = await store.in_force(NOW, {running.label: running})
    assert again is running
    await store.move("third_order", None, Act.PAUSE, BY_ANN)
    assert await store.in_force(NOW) == []


@pytest.mark.long
async def test_all_that_are_in_force_are_read_however_many_they_are(store: CampaignStore) -> None:
    """In slices, and what is known stays the same object."""
    names = [f"offer_{number:03}" for number in range(120)]
    drafts = [parse_campaign(document(name=name), AROUND) for name in names]
    await store.draft(drafts, AROUND, BY_ANN)
    for name in names:
        await store.submit(name, AROUND, BY_ANN)
        await store.approve(name, 1, AROUND, BY_BEN)
    running = {each.label: each for each in await store.in_force(NOW)}
    assert sorted(running) == [f"{name}@1" for name in names]
    known = {label: running[label] for label in list(running)[:7]}
    again = {each.label: each for each in await store.in_force(NOW, known)}
    assert again.keys() == running.keys()
    assert {label for label, each in again.items() if each is running[label]} == known.keys()


async def test_the_arms_of_a_split_are_in_one_order(store: CampaignStore) -> None:
    """The database keeps the fields of a document in an order of its own."""
    split = {"control": 10, "bbb": 30, "a": 60}
    await draft(store, split=split)
    (record,) = await store.history("third_order")
    assert record.document.split == parse_campaign(document(split=split), AROUND).split


async def test_the_same_again_is_refused_and_a_draft_is_replaced(store: CampaignStore) -> None:
    assert await draft(store) == "third_order@1"
    with pytest.raises(Refused, match="third_order@1 is this campaign already, and draft"):
        await draft(store)
    assert await draft(store, priority=1) == "third_order@2"
    first, second = await store.history("third_order")
    assert (first.status, first.reason, second.status) == (Status.ENDED, "replaced by third_order@2", Status.DRAFT)


async def test_the_database_wants_somebody_who_approved(store: CampaignStore, pool: Pool) -> None:
    await draft(store)
    with pytest.raises(asyncpg.CheckViolationError):
        await pool.execute("update campaign set status = 'approved'")


RUNS: dict[str, object] = {"runs": {"overall": 10}}
POINTS: dict[str, object] = {"points": {"overall": 10}}
BUDGET: dict[str, object] = {"budget": {"overall": "5.00", "cost_of_point": "0.01"}}
UNLIMITED: dict[str, object] = {"unlimited": True}
# The limits, what was handed out of them, in how many days it ends, and whether it is near its end.
NEAR: dict[str, tuple[dict[str, object], tuple[int, int, int], int, bool]] = {
    "runs are left": (RUNS, (7, 0, 0), 30, False),
    "most runs": (RUNS, (8, 0, 0), 30, True),
    "most points": (POINTS, (9, 8, 0), 30, True),
    "money is left": (BUDGET, (0, 0, 3_999_999), 30, False),
    "most of the money": (BUDGET, (0, 0, 4_000_000), 30, True),
    "a limit of a member": ({"runs": {"member": 1}}, (99, 99, 99), 30, False),
    "no limit": (UNLIMITED, (99, 99, 99), 30, False),
    "its last week": (UNLIMITED, (0, 0, 0), 6, True),
}


@pytest.mark.parametrize("name", NEAR)
async def test_a_campaign_is_near_its_end_by_its_time_or_by_what_was_handed_out(
    store: CampaignStore, pool: Pool, name: str
) -> None:
    limits, handed_out, ends_in, is_near = NEAR[name]
    await draft(store, limits=limits, ends_at=(NOW + ends_in * DAY).isoformat())
    await store.submit("third_order", AROUND, BY_ANN)
    assert await near(store) == []
    await store.approve("third_order", 1, AROUND, BY_BEN)
    pot = "insert into limit_pot (owner_kind, owner, period, runs, points, cost)"
    await pool.execute(f"{pot} values ('campaign', 'third_order', '', $1, $2, $3)", *handed_out)
    assert await near(store) == ["third_order@1"] * is_near
    assert await near(store, countries=["ID"]) == []
    await store.move("third_order", None, Act.PAUSE, BY_ANN)
    assert await near(store) == []


async def near(store: CampaignStore, countries: list[str] | None = None) -> list[str]:
    found = await store.near_their_end(NOW, NOW + 7 * DAY, Decimal("0.8"), countries=countries, limit=4)
    return [each.document.label for each in found]


async def running_and_draft(store: CampaignStore) -> None:
    """The first version runs, and the second is a draft."""
    await draft(store)
    await store.submit("third_order", AROUND, BY_ANN)
    await store.approve("third_order", 1, AROUND, BY_BEN)
    await draft(store, priority=1)


@pytest.mark.parametrize(
    ("submits", "act", "version", "moved"),
    [
        (False, Act.PAUSE, None, 1),
        (False, Act.END, None, 1),
        (False, Act.END, 2, 2),
        (True, Act.PAUSE, None, 1),
        (True, Act.WITHDRAW, None, 2),
    ],
)
async def test_the_version_that_is_moved(
    store: CampaignStore, *, submits: bool, act: Act, version: int | None, moved: int
) -> None:
    await running_and_draft(store)
    if submits:
        await store.submit("third_order", AROUND, BY_ANN)
    record = await store.move("third_order", version, act, BY_ANN)
    assert record.document.version == moved
    changed = [each.document.version for each in await store.history("third_order") if each == record]
    assert changed == [moved]


@pytest.mark.parametrize("status", Status)
@pytest.mark.parametrize("hours", [-10_000, 0, 100_000])
async def test_pages_have_the_states_that_people_see(
    store: CampaignStore, pool: Pool, status: Status, hours: int
) -> None:
    await draft(store)
    await pool.execute("update campaign set status = $1, approved_by = 'ben', approved_at = now()", status.value)
    now = NOW + timedelta(hours=hours)
    (record,) = await store.history("third_order")
    found = [each for each in State if await store.page(now, state=each, limit=9)]
    assert found == [record.state(now)]


async def test_pages_are_of_the_latest_versions_by_name(store: CampaignStore) -> None:
    for name in ("b", "a", "c"):
        await draft(store, name=name)
    await draft(store, name="b", priority=1)
    first = await store.page(NOW, limit=2)
    assert [each.document.label for each in first] == ["a@1", "b@2"]
    assert [each.document.label for each in await store.page(NOW, after="b", limit=2)] == ["c@1"]
    assert await store.page(NOW, countries=["ID"], limit=2) == []
