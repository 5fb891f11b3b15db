"""Members walk on their versions: by their journey's document, from the entry to the end."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

import pytest

from abacus.core.errors import Unavailable
from abacus.engage.journeys.armed_versions import ArmedVersions
from abacus.engage.journeys.decide.halts import NO_HALTS, Halts
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.packs import packed
from abacus.engage.journeys.decide.publications import JourneyPublications
from abacus.engage.journeys.decide.seat import Arrived, Leaves, Moved, Seat, Waits
from abacus.engage.journeys.decide.sides import ZONE
from abacus.engage.journeys.facts import JourneySubject
from abacus.engage.journeys.mover import Mover
from abacus.engage.journeys.walks import Walks
from abacus.ledger.types.account import AccountId
from abacus.platform import slices
from abacus.platform.pace.turns import book_turns
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.types import Event
from abacus.signals.facts.decide.catalog import MEMBER
from abacus.signals.facts.types import NOT_NOW, FactRegistry, Found, Wish
from tests.engage.campaigns.offers import CARDS, NOW, order
from tests.engage.journeys.examples import AROUND, HELLO, ORDERS, journey, nodes, rule
from tests.engage.journeys.travelling import come_in, entry
from tests.support.fixed_clock import FixedClock

GOLD = {"branch": [{"when": rule("member.tier", "eq", "gold"), "next": "gift"}], "otherwise": "done"}
GIFT = {"do": {"award": {"points": 50}}, "next": "done"}


class Versions:
    """Journeys in memory, by their versions."""

    def __init__(self, *journeys: Journey) -> None:
        self._journeys = {(each.name, each.version): each for each in journeys}

    async def of(self, name: str, version: int) -> Journey:
        return self._journeys[name, version]


class Zones:
    """The zones that members have named, each time that they are looked up at once."""

    origin = ZONE

    def __init__(self, zones: Mapping[str, str]) -> None:
        self.zones = zones
        self.loads: list[int] = []

    async def load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        self.loads.append(len(wanted))
        return [self.zones.get(subject.member_id) for subject, _ in wanted]


BROKEN: Final = "broken"  # instead of a tier: looking it up meets a fault


class Tiers:
    """The tiers of members, each time that they are looked up at once; none where they cannot be told."""

    origin = MEMBER

    def __init__(self, tiers: Mapping[str, Found]) -> None:
        self.tiers = tiers
        self.loads: list[int] = []

    async def load(self, wanted: Sequence[Wish[JourneySubject]]) -> list[Found]:
        self.loads.append(len(wanted))
        for subject, _ in wanted:
            if self.tiers.get(subject.member_id) == BROKEN:
                raise KeyError(subject.member_id)
        return [self.tiers.get(subject.member_id, "member") for subject, _ in wanted]

    async def of(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        return {account: str(self.tiers.get(account[0], "member")) for account in accounts}


def walks(
    *journeys: Journey,
    tiers: Tiers | None = None,
    zones: Zones | None = None,
    pool: Pool | None = None,
    halts: Halts = NO_HALTS,
    around: Callable[[], JourneyPublications] = lambda: AROUND,
) -> Walks:
    tiers = tiers or Tiers({})

    async def book(receiver: str, step: timedelta, now: datetime, wanted: int) -> datetime:
        assert pool is not None
        return await book_turns(pool, receiver, step, now, wanted)

    versions = ArmedVersions(Versions(*journeys).of, around)
    cards = CardBook(CARDS.values())
    facts = FactRegistry(tiers, zones or Zones({}))
    return Walks(versions, facts, tiers=tiers.of, cards=lambda: cards, book=book, halts=lambda: halts)


def seat(number: int = 1, *, entry: Event | None = None, **changes: Any) -> Seat:
    member_id = f"m{number}"
    written = encode_event(entry or order(number, member_id))
    plain = Seat(
        member_id=member_id,
        journey="welcome",
        visit=1,
        member=number,
        version=1,
        key=f"e-{number}",
        country="SG",
        entered_at=NOW,
        node=None,
        turn=None,
        arm=None,
        since=NOW,
        value=None,
        context=None,
        event=written,
    )
    return plain._replace(**changes)


def number(of: Journey, name: str) -> int:
    return of.nodes[name].number


def entering(of: Journey, *seats: Seat) -> list[Arrived]:
    return [Arrived(each, number(of, of.begin), 0) for each in seats]


async def moved(of: Walks, arrived: Arrived, now: datetime = NOW) -> Moved:
    (move,) = await of("welcome", [arrived], now)
    return move


async def test_from_the_entry_to_the_reminder_and_the_end() -> None:
    of = journey()
    walking, second = walks(of), number(of, "second")
    came = await moved(walking, entering(of, seat())[0])
    two_days = NOW + timedelta(days=2)
    assert came.then == Waits(second, 0, two_days, "Asia/Singapore", awaits=True, since=NOW)
    assert came.path == (number(of, "hello"),)
    assert [each.key for each in came.actions] == [f"journey:welcome:1:m1:{number(of, 'hello')}"]
    waits = seat(node=second, turn=0)
    left = await moved(walking, Arrived(waits, second, 0, due=two_days), two_days)
    assert (left.then, left.path) == (
        Leaves("through"),
        tuple(number(of, each) for each in ("second", "remind", "done")),
    )


async def test_an_event_ends_the_wait_that_is_for_it() -> None:
    of = journey()
    walking, second = walks(of), number(of, "second")
    waits = seat(node=second, turn=0)
    bought = Arrived(waits, second, 0, event=order(2, "m1", timedelta(hours=1)))
    left = await moved(walking, bought, NOW + timedelta(hours=1))
    assert [each.key for each in left.actions] == [f"journey:welcome:1:m1:{number(of, 'thank')}"]
    assert left.then == Leaves("through")
    before = bought._replace(event=order(1, "m1", timedelta(seconds=-1)))  # such as the entry's own, read again
    other = bought._replace(event=Event("shop", "visit", "v", "m1", "SG", NOW + timedelta(hours=1), {}))
    assert await walking("welcome", [before, other], NOW) == []


async def test_a_rule_is_looked_at_anew_after_an_event(pool: Pool) -> None:
    """Who does not go on waits as before, until its time."""
    rule_ = {"for": "2d", "rule": {"when": rule("member.tier", "eq", "gold"), "after": ORDERS}}
    until = {"wait": rule_, "next": "gift", "otherwise": "done"}
    of, tiers = journey(**nodes("until", until=until, gift=GIFT)), Tiers({})
    assert ("transactions", "transaction.completed") in of.awaited
    place, clock = number(of, "until"), FixedClock(NOW)
    moving = Mover(walks(of, tiers=tiers), clock)
    await come_in(pool, moving, [entry(each)._replace(event=encode_event(order(each, f"m{each}"))) for each in (1, 2)])
    tiers.tiers = {"m1": "gold"}
    clock.set(NOW + timedelta(hours=1))
    bought = [order(9, f"m{each}", timedelta(minutes=1)) for each in (1, 2)]

    async def hear(slice_: slices.Slice, part: Sequence[Event]) -> int:
        return await moving.hear(slice_, "welcome", {each.member_id or "": each for each in part}, lambda _, __: True)

    await slices.split(pool, bought, hear, member_of=lambda each: each.member_id or "", patience_s=None)
    rows = await pool.fetch("select member_id, node, why from seat order by 1")
    assert [tuple(row) for row in rows] == [("m1", None, "through"), ("m2", place, None)]
    assert await pool.fetch("select due from pack where due < $1", NOW + timedelta(days=2)) == []
    assert await pool.fetchval("select count(*) from action") == 1


async def test_members_leave_by_an_event_wherever_they_are() -> None:
    of = journey(exits=[{"name": "bought", "on": ORDERS, "when": rule("var.vertical", "eq", "mart")}])
    mart = order(2, "m1", timedelta(hours=1), vertical="mart")
    food = order(3, "m1", timedelta(hours=1))
    assert (await moved(walks(of), Arrived(seat(), None, None, event=mart))).then == Leaves("bought")
    assert await walks(of)("welcome", [Arrived(seat(), None, None, event=food)], NOW) == []


async def test_what_members_look_up_is_read_together() -> None:
    of, tiers = journey(**nodes("which", which=GOLD, gift=GIFT)), Tiers({"m7": "gold"})
    moves = await walks(of, tiers=tiers)("welcome", entering(of, *map(seat, range(1, 21))), NOW)
    assert tiers.loads == [20]
    assert [each.arrived.seat.member_id for each in moves if each.actions] == ["m7"]


async def test_members_who_wait_by_one_clock_are_in_one_pack() -> None:
    """Three zones have ten in the morning at three times: a herd is in as many packs as in one zone."""
    ten = {"wait": {"at": "10:00"}, "next": "done"}
    of = journey(**nodes("ten", ten=ten))
    named = ["Europe/London", "Asia/Kathmandu", None]
    zones = Zones({f"m{each}": zone for each in range(1_500) if (zone := named[each % 3]) is not None})
    moves = await walks(of, zones=zones)("welcome", entering(of, *map(seat, range(1_500))), NOW)
    waiting = [(each.arrived.seat, each.then) for each in moves if isinstance(each.then, Waits)]
    packs = sorted(packed(waiting, lambda: 0.0), key=lambda each: each.zone)
    assert zones.loads == [1_500]
    assert [(each.zone, each.due.astimezone(ZoneInfo(each.zone)).hour, len(each.members)) for each in packs] == [
        ("Asia/Kathmandu", 10, 500),
        ("Asia/Singapore", 10, 500),
        ("Europe/London", 10, 500),
    ]


async def test_members_stay_on_their_versions() -> None:
    one, other = journey(1), journey(2, **nodes("gift", gift=GIFT))
    both = walks(one, other)
    assert isinstance((await moved(both, entering(one, seat())[0])).then, Waits)
    assert (await moved(both, entering(other, seat(version=2))[0])).then == Leaves("through")


async def test_a_value_that_cannot_be_told_is_waited_for() -> None:
    of = journey(**nodes("day", day={"wait": {"for": "1d"}, "next": "which"}, which=GOLD, gift=GIFT))
    walking, day, due = walks(of, tiers=Tiers({"m1": NOT_NOW})), number(of, "day"), NOW + timedelta(days=1)
    later = await moved(walking, Arrived(seat(), day, 0, due=due), due)
    assert later.then == Waits(day, 0, due + timedelta(minutes=1), "UTC", since=NOW)
    assert not later.actions


async def test_an_entry_is_tried_again_where_a_value_cannot_be_told() -> None:
    of = journey(**nodes("which", which=GOLD, gift=GIFT))
    with pytest.raises(Unavailable):
        await walks(of, tiers=Tiers({"m1": NOT_NOW}))("welcome", entering(of, seat()), NOW)


async def test_members_go_on_one_after_the_other_where_there_is_a_rate(pool: Pool) -> None:
    of = journey(**nodes("gate", gate={"rate": 60, "next": "hello"}, hello={"do": HELLO, "next": "done"}))
    walking, gate = walks(of, pool=pool), number(of, "gate")
    entered = await walking("welcome", entering(of, *map(seat, range(3))), NOW)
    due = [each.then.due for each in entered if isinstance(each.then, Waits)]
    more = await moved(walking, entering(of, seat(9))[0])
    assert isinstance(more.then, Waits)
    assert [*due, more.then.due] == [NOW + timedelta(seconds=number) for number in range(4)]
    went = await moved(walking, Arrived(seat(9), gate, 0, due=more.then.due), more.then.due)
    assert (went.then, len(went.actions)) == (Leaves("through"), 1)


async def test_nothing_is_done_that_is_too_late_but_members_go_on() -> None:
    day = {"wait": {"for": "1d"}, "next": "gift"}
    of = journey(not_later_than="6h", **nodes("day", day=day, gift=GIFT))
    due = NOW + timedelta(days=1)
    arrived = Arrived(seat(), number(of, "day"), 0, due=due)
    assert len((await moved(walks(of), arrived, due + timedelta(hours=5))).actions) == 1
    late = await moved(walks(of), arrived, due + timedelta(hours=7))
    assert (late.actions, late.then, late.not_done) == ([], Leaves("through"), "too late")


@pytest.mark.parametrize(
    ("late", "resumed", "not_done"),
    [
        ("skip", None, None),
        ("skip", timedelta(hours=-1), None),
        ("skip", timedelta(hours=1), "held up by a pause"),
        ("run", timedelta(hours=1), None),
    ],
    ids=["never paused", "due after the pause", "due before its end", "run"],
)
async def test_what_a_pause_held_up_is_done_or_not_as_the_journey_says(
    late: str, resumed: timedelta | None, not_done: str | None
) -> None:
    day = {"wait": {"for": "1d"}, "next": "gift"}
    of = journey(late=late, **nodes("day", day=day, gift=GIFT))
    due = NOW + timedelta(days=1)
    halts = NO_HALTS if resumed is None else Halts({"welcome": due + resumed})
    arrived = Arrived(seat(), number(of, "day"), 0, due=due)
    went = await moved(walks(of, halts=halts), arrived, due + timedelta(hours=2))
    assert (len(went.actions), went.then, went.not_done) == (0 if not_done else 1, Leaves("through"), not_done)


async def test_who_comes_to_no_deed_misses_none() -> None:
    of = journey(late="skip", **nodes("day", day={"wait": {"for": "1d"}, "next": "done"}))
    arrived = Arrived(seat(), number(of, "day"), 0, due=NOW)
    went = await moved(walks(of, halts=Halts({"welcome": NOW + timedelta(hours=1)})), arrived, NOW + timedelta(hours=2))
    assert (went.then, went.not_done) == (Leaves("through"), None)


async def test_members_who_are_inside_at_the_end_leave_where_it_stops() -> None:
    of = journey(at_end="stop")
    waits = seat(node=number(of, "second"), turn=0)
    walking = walks(of, halts=Halts(stops_at={("welcome", 1): of.ends_at}))
    arrived = Arrived(waits, waits.node, 0, due=of.ends_at)
    left = await moved(walking, arrived, of.ends_at)
    assert (left.then, left.actions) == (Leaves("the journey is over"), ())
    assert (await moved(walking, arrived, of.ends_at - timedelta(seconds=1))).then == Leaves("through")


async def test_members_on_a_version_that_people_have_ended_leave() -> None:
    one, other = journey(), journey(2)
    walking = walks(one, other, halts=Halts(ended={("welcome", 1)}))
    assert (await moved(walking, entering(one, seat())[0])).then == Leaves("the journey was ended")
    assert isinstance((await moved(walking, entering(other, seat(version=2))[0])).then, Waits)


async def test_an_award_that_the_card_does_not_price_ends_the_visit_with_the_reason() -> None:
    of = journey(**nodes("gift", gift={"do": {"award": {"multiple": "2"}}, "next": "done"}))
    left = await moved(walks(of), entering(of, seat(entry=order(1, "m1", currency="USD")))[0])
    assert isinstance(left.then, Leaves)
    assert left.then.why.startswith("gift: ")
    assert not left.actions


async def test_members_of_a_version_that_does_not_fit_wait_until_it_does() -> None:
    """Here the event by which the member entered does not fit its source any more."""
    of = journey(**nodes("day", day={"wait": {"for": "1d"}, "next": "done"}))
    due = NOW + timedelta(days=1)
    arrived = Arrived(seat(event=b'{"source": "transactions"}'), number(of, "day"), 0, due=due)
    later = await moved(walks(of), arrived, due)
    assert later.then == Waits(number(of, "day"), 0, due + timedelta(minutes=1), "UTC", since=NOW)


async def test_an_event_moves_others_where_the_entry_of_a_member_cannot_be_read() -> None:
    """It stays where it is, and the event is not read again for it."""
    of = journey(exits=[{"name": "bought", "on": ORDERS}], **nodes("day", day={"wait": {"for": "1d"}, "next": "done"}))
    later = order(2, after=timedelta(hours=1))
    bob, ann = seat(7, event=b'{"source": "transactions"}'), seat(1)
    found = await walks(of)("welcome", [Arrived(each, None, None, event=later) for each in (bob, ann)], NOW)
    assert [(each.arrived.seat.member_id, each.then) for each in found] == [(ann.member_id, Leaves("bought"))]
