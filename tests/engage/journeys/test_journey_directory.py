"""Which journeys run: approved ones in all their versions, and none that was paused or ended."""

from collections.abc import Sequence
from datetime import timedelta

from abacus.core.clock import SystemClock
from abacus.documents.decide.states import Act
from abacus.documents.stated import Change
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.halts import NO_HALTS, Halts
from abacus.engage.journeys.directory import JourneyDirectory, Running
from abacus.engage.journeys.journey_store import JourneyRecord, JourneyStore, JourneyVersions
from abacus.engage.journeys.kind import JOURNEYS
from abacus.platform.postgres import Pool
from tests.engage.campaigns.offers import SOURCES
from tests.engage.journeys.examples import AROUND, journey
from tests.support.agreed import agree

ENDS = (SystemClock().now() + timedelta(days=30)).isoformat()


async def running(directory: JourneyDirectory) -> Running:
    await directory.refresh()
    return directory.value()


async def test_versions_run_from_their_approval_on_until_the_journey_is_paused(pool: Pool) -> None:
    store, clock = JourneyStore(pool), SystemClock()
    directory = JourneyDirectory(pool, JourneyVersions(store), SOURCES.values(), clock)
    assert (await running(directory)).names == []
    await agree(pool, JOURNEYS, store, journey(ends_at=ENDS), AROUND)
    second = journey(ends_at=ENDS, about="Another", timezone="America/New_York")
    await store.draft([second], AROUND, Change("person:ann", clock.now()))
    now = await running(directory)  # the draft is there, and does not count
    assert ([each.version for each in now.versions], now.zones["welcome"].key) == ([1], "Asia/Singapore")
    third = await agree(pool, JOURNEYS, store, journey(ends_at=ENDS, about="A third"), AROUND)
    now = await running(directory)
    assert ([each.version for each in now.versions], [each.version for each in now.newest]) == ([1, 3], [3])
    assert now.newest[0].approved_at > third.approved_at  # it is known with its approval
    assert now.types() == now.awaited() == {"transactions": {"transaction.completed"}}
    change = Change("person:ann", clock.now())
    await store.move("welcome", 3, Act.PAUSE, change)
    assert ((await running(directory)).versions, directory.value().halts) == ([], NO_HALTS)
    resumed = change._replace(now=clock.now())
    await store.move("welcome", 3, Act.RESUME, resumed)
    assert ((await running(directory)).names, directory.value().halts) == (["welcome"], Halts({"welcome": resumed.now}))
    await store.move("welcome", 3, Act.PAUSE, change)
    fourth = await agree(pool, JOURNEYS, store, journey(ends_at=ENDS, about="A fourth"), AROUND)
    now = await running(directory)
    assert now.halts.resumed_at["welcome"] == now.newest[0].approved_at, "they go on since there is another version"
    assert (now.halts.ended, now.halts.stops_at) == (frozenset(), {}), "another version took their place"
    await store.move("welcome", fourth.version, Act.END, change)
    now = await running(directory)
    ended = frozenset({("welcome", 1), ("welcome", 3), ("welcome", 4)})
    assert (now.names, now.halts.ended) == ([], ended)
    fifth = await agree(pool, JOURNEYS, store, journey(ends_at=ENDS, at_end="stop"), AROUND)
    now, place = await running(directory), ("welcome", fifth.version)
    assert (now.halts.ended, now.halts.stops_at) == (ended, {place: fifth.ends_at}), "it starts anew"
    assert now.halts.why_over(place, fifth.ends_at - timedelta(seconds=1)) is None
    assert now.halts.over(fifth.ends_at) == [*ended, place]


class CountingStore(JourneyStore):
    """Notes the versions that are read."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self.read: list[int] = []

    async def find(self, versions: Sequence[tuple[str, int]]) -> list[JourneyRecord]:
        self.read += [number for _, number in versions]
        return await super().find(versions)


async def test_versions_that_nobody_used_lately_are_read_again(pool: Pool) -> None:
    """Two of four are kept, by their nodes."""
    store = CountingStore(pool)
    for number in range(1, 5):
        await agree(pool, JOURNEYS, store, journey(ends_at=ENDS, about=f"The {number}."), AROUND)
    nodes = len(journey().nodes)
    versions = JourneyVersions(store, most_nodes=2 * nodes)
    armed = ArmedVersions(versions.of, lambda: AROUND, most_nodes=2 * nodes)
    for number in (1, 2, 1, 2, 3, 4, 4, 1):
        assert (await armed.of("welcome", number)).journey.about == f"The {number}."
    assert store.read == [1, 2, 3, 4, 1]


async def test_a_version_is_read_once_to_know_what_it_asks_for(pool: Pool) -> None:
    store, clock = CountingStore(pool), SystemClock()
    directory = JourneyDirectory(pool, JourneyVersions(store), SOURCES.values(), clock)
    for number in (1, 2, 3):
        await agree(pool, JOURNEYS, store, journey(ends_at=ENDS, about=f"The {number}."), AROUND)
        now = await running(directory)
        assert [each.version for each in now.versions] == list(range(1, number + 1))
        assert [each.about for each in now.newest] == [f"The {number}."]
    assert store.read == [1, 2, 3]
