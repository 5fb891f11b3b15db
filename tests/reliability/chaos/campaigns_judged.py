"""The differences between what has to come of campaigns and what they have left behind. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from abacus.core.ids import campaign_key
from tests.reliability.chaos.campaigned import MOST_RUNS, NAMES, POINTS, THIRD, Campaigned
from tests.reliability.chaos.judge import few

_AWARD: Final = "award"


class Transfer(NamedTuple):
    """Points of a campaign in the ledger."""

    key: str
    member_id: str
    points: int


class Action(NamedTuple):
    """A row of `action`."""

    campaign: str
    member_id: str
    key: str
    kind: str
    done: bool
    refused: bool


class Told(NamedTuple):
    """What campaigns have left behind after a run. `claims` are keys by campaign; `sums` are events and points by
    campaign and outcome. `notices` and `published` have the ids of what was told and published.
    """

    claims: Mapping[str, Sequence[str]]
    sums: Mapping[tuple[str, str], tuple[int, int]]
    actions: Sequence[Action]
    transfers: Sequence[Transfer]
    notices: Sequence[str]
    published: Sequence[str]
    exhausted: frozenset[str]


def faults_of_campaigns(campaigned: Campaigned, told: Told) -> Iterator[str]:
    """What was lost, done twice, or done beyond a limit."""
    yield from _claimed(campaigned, told)
    yield from _done_as_decided(told)
    yield from _limits(campaigned, told)
    yield from _told_once(campaigned, told)


def _claimed(campaigned: Campaigned, told: Told) -> Iterator[str]:
    """Every order is decided once for each campaign; once the budget is used up, it need not be any more."""
    for name in NAMES:
        due = {campaign_key(name, order) for order in campaigned.orders}
        there = Counter(told.claims.get(name, ()))
        decided = sum(events for (campaign, _), (events, _) in told.sums.items() if campaign == name)
        yield from few(f"{name} was decided for what nobody sent", there.keys() - due)
        if name != "budgeted":
            yield from few(f"{name} was not decided", due - there.keys())
        elif len(there) < campaigned.affordable:
            yield f"{name} was decided for {len(there)} orders, and could be for {campaigned.affordable}"
        if decided != there.total():
            yield f"{name}: {there.total()} orders are decided, and {decided} have an outcome"


def _limits(campaigned: Campaigned, told: Told) -> Iterator[str]:
    points: Counter[str] = Counter()
    transfers: Counter[str] = Counter()
    of_member: Counter[str] = Counter()
    for each in told.transfers:
        name = each.key.split(":")[1]
        points[name] += each.points
        transfers[name] += 1
        of_member[each.member_id] += name == "twice"
    yield from _unlike("points of budgeted", points["budgeted"], campaigned.affordable * POINTS["budgeted"])
    yield from _unlike("awards of later", transfers["later"], len(campaigned.orders))
    if "budgeted" not in told.exhausted:
        yield "the budget is used up, and its campaign is not exhausted"
    for name, worth in POINTS.items():
        yield from _unlike(f"points of {name}, by its sums", told.sums.get((name, "done"), (0, 0))[1], points[name])
        yield from _unlike(f"points of {name}", points[name], transfers[name] * worth)
    least, most = campaigned.by_member(only_sure=True), campaigned.by_member(only_sure=False)
    wrong = [
        f"{member}: {of_member[member]} awards"
        for member in most.keys() | of_member.keys()
        if not min(least[member], MOST_RUNS) <= of_member[member] <= min(most[member], MOST_RUNS)
    ]
    yield from few("limit of a member", wrong)


def _told_once(campaigned: Campaigned, told: Told) -> Iterator[str]:
    """Whoever has three orders gets one message, and one event is published, maybe under the same id again."""
    members = [each.member_id for each in told.actions if each.kind == "tell"]
    least, most = campaigned.by_member(only_sure=True), campaigned.by_member(only_sure=False)
    yield from few("told twice", [member for member, times in Counter(members).items() if times > 1])
    yield from few("not told", {each for each, orders in least.items() if orders >= THIRD} - set(members))
    yield from few("told too early", set(members) - {each for each, orders in most.items() if orders >= THIRD})
    keys = {f"{each.key}" for each in told.actions if each.kind == "tell"}
    yield from few("messages that nobody decided", Counter(told.notices) - Counter(f"{key}/0" for key in keys))
    yield from few("messages that are not entered", {f"{key}/0" for key in keys} - set(told.notices))
    yield from few("events that nobody decided", set(told.published) - {f"{key}/1" for key in keys})
    yield from few("events that are not published", {f"{key}/1" for key in keys} - set(told.published))


def _done_as_decided(told: Told) -> Iterator[str]:
    """Every action is done, and those that award are in the ledger, each once; nothing else is."""
    yield from few(
        "neither done nor refused", [each.key for each in told.actions if not each.done and not each.refused]
    )
    yield from few("refused", [each.key for each in told.actions if each.refused])
    decided = Counter(each.key for each in told.actions if each.kind == _AWARD and each.done)
    posted = Counter(each.key for each in told.transfers)
    yield from few("awards of campaigns that are not posted", (decided - posted).elements())
    yield from few("posted beyond what campaigns decided", (posted - decided).elements())
    yield from few("awards that were decided twice", [key for key, times in decided.items() if times > 1])


def _unlike(what: str, got: int, due: int) -> Iterator[str]:
    if got != due:
        yield f"{what}: {got}, not {due}"
