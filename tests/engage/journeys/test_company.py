"""Members go on together as each would go by itself."""

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.journeys.decide.armed import arm
from abacus.engage.journeys.decide.company import Company, Course, Stand
from abacus.engage.journeys.decide.guest import Guest
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.decide.seat import Leaves, Parting, Party, Seated, Waits
from abacus.engage.journeys.decide.visit import Place, Woken
from abacus.engage.journeys.decide.walk import Walk
from abacus.signals.facts.types import NOT_NOW
from tests.engage.campaigns.offers import NOW
from tests.engage.journeys.examples import AROUND, HELLO, after, journey, nodes, rule, visitor, walked
from tests.engage.journeys.test_walks import GIFT, GOLD, Tiers, number, walks

TIERS = ("gold", "silver", "member")
DAY = {"wait": {"for": "1d", "zone": "country"}, "next": "which"}

# A day; then a branch and a split, behind which something is done, at once or in the morning.
WAYS: Mapping[str, Any] = nodes(
    "day",
    day=DAY,
    which={
        "branch": [
            {"when": rule("member.tier", "eq", "gold"), "next": "gift"},
            {"when": rule("journey.herd.visits", "gte", 2), "next": "done"},
        ],
        "otherwise": "half",
    },
    half={"split": [{"arm": "a", "share": 50, "next": "hello"}, {"arm": "control", "share": 50, "next": "done"}]},
    gift={"do": {"award": {"points": 50}}, "next": "hello"},
    hello={"do": HELLO, "next": "morning"},
    morning={"wait": {"at": "09:00", "zone": "member"}, "next": "done"},
)

known = st.fixed_dictionaries(
    {
        "member.tier": st.sampled_from(TIERS),
        "journey.herd.visits": st.integers(0, 3),
        "zone": st.sampled_from([None, "Asia/Jakarta", "Asia/Tokyo"]),
    }
)


def seats(how_many: int) -> list[Seated]:
    return [Seated(each, 1, f"m{each}") for each in range(how_many)]


def party(of: Journey, node: str, *members: Seated) -> Party:
    return Party(of.name, of.version, number(of, node), 0, None, NOW, members)


def told(walk: Walk) -> tuple[object, ...]:
    """All that comes of a walk, but for its keys."""
    effects = [(each.node.number, each.turn, each.deed, each.arm) for each in walk.effects]
    return [(each.node.number, each.turn, each.way) for each in walk.trail], effects, walk.stop, walk.arm


def led(company: Company, knowing: Sequence[Mapping[str, Any]]) -> list[Course]:
    """The courses of members. Each learns what it wants."""
    wanting = company.lead(seats(len(knowing)))
    while wanting:
        some = wanting.pop()
        for seat in some.seats:
            known = {side.text: knowing[seat.member][side.text] for side in some.sides}
            wanting += company.lead_on([seat], some.guest.learned(known))
    return company.courses


@given(st.lists(known, max_size=12))
def test_each_goes_the_way_that_it_would_go_by_itself(knowing: list[dict[str, Any]]) -> None:
    of = arm(journey(quiet_hours="21:00-08:00", **WAYS), AROUND)
    node = of.node("day").number
    company = Company(of, Stand(node, 0, None, NOW))
    found = {seat.member: course.walk for course in led(company, knowing) for seat in course.seats}
    assert (len(found), company.singly) == (len(knowing), [])
    for member, walk in found.items():
        alone = walked(of, visitor(f"m{member}"), at=Place(node, 0, NOW), woken=Woken.DUE, known=knowing[member])
        assert told(walk) == told(alone)


def test_alike_members_share_one_walk() -> None:
    of = arm(journey(**nodes("day", day=DAY, which=GOLD, gift=GIFT)), AROUND)
    company = Company(of, Stand(of.node("day").number, 0, None, NOW))
    courses = led(company, [{"member.tier": TIERS[each % 3]} for each in range(300)])
    assert sorted(len(each.seats) for each in courses) == [100, 200]


async def test_what_members_lack_is_read_together() -> None:
    of, tiers = journey(**nodes("day", day=DAY, which=GOLD, gift=GIFT)), Tiers({"m7": "gold"})
    parting = await walks(of, tiers=tiers).together([party(of, "day", *seats(20))], after(days=1))
    assert (tiers.loads, parting.singly) == ([20], [])
    assert {len(each.seats): len(each.done) for each in parting.went} == {19: 0, 1: 1}
    assert {each.then for each in parting.went} == {Leaves("through")}


async def test_members_of_small_packs_go_together_too() -> None:
    of = journey(
        **nodes("day", day={"wait": {"for": "24h"}, "next": "more"}, more={"wait": {"for": "1h"}, "next": "done"})
    )
    parting = await walks(of).together([party(of, "day", each) for each in seats(9)], NOW)
    assert [(len(each.seats), each.then) for each in parting.went] == [
        (9, Waits(number(of, "more"), 0, after(hours=1), "Asia/Singapore", since=NOW))
    ]


async def singly(tiers: Tiers | None = None, **written: Any) -> Parting:
    of = journey(**nodes("day", day={"wait": {"for": "1d", "zone": "country"}, "next": "then"}, **written))
    return await walks(of, tiers=tiers).together([party(of, "day", *seats(2))], after(days=1))


async def test_who_depends_on_its_own_entry_goes_singly() -> None:
    """By what the event had, by points that follow from it, by a turn of its own, or for a value that comes later."""
    by_event = {"branch": [{"when": rule("var.vertical", "eq", "food"), "next": "done"}], "otherwise": "done"}
    multiple = {"do": {"award": {"multiple": "2"}}, "next": "done"}
    for each in (
        await singly(then=by_event),
        await singly(then=multiple),
        await singly(then={"rate": 60, "next": "done"}),
        await singly(Tiers({"m0": NOT_NOW, "m1": NOT_NOW}), then={**GOLD}, gift=GIFT),
    ):
        assert (list(each.singly), [went for went in each.went if went.seats]) == (seats(2), [])


async def test_nothing_is_done_for_a_company_that_is_too_late() -> None:
    of = journey(not_later_than="6h", **nodes("day", day={"wait": {"for": "24h"}, "next": "gift"}, gift=GIFT))
    in_time = (await walks(of).together([party(of, "day", *seats(2))], after(hours=5))).went
    late = (await walks(of).together([party(of, "day", *seats(2))], after(hours=7))).went
    assert [(len(each.done), each.not_done) for each in (*in_time, *late)] == [(1, None), (0, "too late")]


def test_what_was_looked_up_is_told_for_each() -> None:
    guest = Guest("m1", visitor().facts, {"points": 3})
    guest.learn({"member.tier": "gold"})
    assert guest.looked_up == {"member.tier": "gold"}
