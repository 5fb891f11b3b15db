"""What became of the members of a journey, by node, day and arm, out of its sums. Pure."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple, TypeVar

from abacus.engage.campaigns.decide.interval import Interval, difference_interval, share_interval
from abacus.engage.journeys.decide.graph import in_order
from abacus.engage.journeys.decide.journey import CONTROL, Journey
from abacus.engage.journeys.decide.ways import NOWHERE, Outcome

_NO_REASON: Final = "-"

Key = TypeVar("Key")


class Sum(NamedTuple):
    """Members to whom the same happened at a node on a day, as `Counted`."""

    version: int
    day: date
    node: int
    arm: str
    outcome: str
    why: str
    members: int


class NodeCount(NamedTuple):
    """Members who came to a node, went on from it, are waiting there now, and left the journey there."""

    came: int
    passed: int
    waiting: int
    left: int


class Glance(NamedTuple):
    """The live counts of a journey: members who entered, are inside, and left. `nodes` has the counts of each node, by
    its number, and `versions` the members who are inside a version, by its number.
    Members who were fetched out of a wait by an event, and who would still wait there, are `fetched`: the nodes count
    them as waiting.
    """

    entered: int
    inside: int
    left: int
    converted: int
    fetched: int
    nodes: Mapping[int, NodeCount]
    versions: Mapping[int, int]


class NodeLine(NamedTuple):
    """A node in the funnel. `share` is that of the members who entered, to whom the node came once or more often."""

    node: str
    number: int
    came: int
    passed: int
    waiting: int
    left: Mapping[str, int]
    share: float | None


class DayLine(NamedTuple):
    """What happened at a node on a day, on one version."""

    day: date
    version: int
    node: str
    entered: int
    came: int
    passed: int
    left: Mapping[str, int]


class ArmLine(NamedTuple):
    """How many members came into an arm, and how many of these did what the goal is."""

    arm: str
    members: int
    conversions: int

    @property
    def converted(self) -> int:
        """Who was moved to another version may be converted on that and have come into its arm before."""
        return min(self.conversions, self.members)

    @property
    def interval(self) -> Interval | None:
        return share_interval(self.converted, self.members)


class JourneyReport(NamedTuple):
    """`nodes` is the funnel, in the order in which members come to them. Who is `inside` and `waiting` is of now, and
    the arms of all days; all else is of the days that were asked for. `converted` are members who entered on these.
    `left` has the reasons, also of members whose node nobody could tell.
    """

    entered: int
    inside: int
    left: Mapping[str, int]
    converted: int
    interval: Interval | None
    nodes: Sequence[NodeLine]
    days: Sequence[DayLine]
    arms: Sequence[ArmLine]


def glance_of(sums: Iterable[Sum]) -> Glance:
    """The counts of all days."""
    known = list(sums)
    counts = _by(known, lambda each: (each.node, each.outcome))
    of_all = _by_outcome(counts)
    nodes = {
        node: NodeCount(
            counts[node, Outcome.CAME], counts[node, Outcome.PASSED], _waiting(counts, node), counts[node, Outcome.LEFT]
        )
        for node in sorted({node for node, _ in counts} - {NOWHERE})
    }
    of_versions = _by(known, lambda each: (each.version, each.outcome))
    versions = {
        version: _inside(Counter({each: of_versions[version, each] for each in Outcome}))
        for version in sorted({version for version, _ in of_versions})
    }
    fetched = counts[NOWHERE, Outcome.LEFT] - of_all[Outcome.GONE]
    entered, left, converted = (of_all[each] for each in (Outcome.ENTERED, Outcome.LEFT, Outcome.CONVERTED))
    return Glance(entered, _inside(of_all), left, converted, fetched, nodes, versions)


def report_of(
    journey: Journey,
    names: Mapping[int, str],
    sums: Sequence[Sum],
    fetched: Mapping[int, int],
    days: tuple[date, date],
) -> JourneyReport:
    """`names` has the nodes of all versions by number; `fetched` members would still wait at nodes, and left."""
    now, first, last = glance_of(sums), *days
    within = [each for each in sums if first <= each.day <= last]
    counts = _by(within, lambda each: (each.node, each.outcome))
    of_all = _by_outcome(counts)
    reasons = _reasons(within)
    known = [each.number for each in in_order(journey)]
    numbers = [*known, *sorted(each for each in {each.node for each in sums} if each not in {NOWHERE, *known})]
    return JourneyReport(
        entered=of_all[Outcome.ENTERED],
        inside=now.inside,
        left=dict(sorted(_by((each for each in within if each.outcome == Outcome.LEFT), _why).items())),
        converted=of_all[Outcome.CONVERTED],
        interval=share_interval(of_all[Outcome.CONVERTED], of_all[Outcome.ENTERED]),
        nodes=[
            NodeLine(
                names.get(number, str(number)),
                number,
                counts[number, Outcome.CAME],
                counts[number, Outcome.PASSED],
                now.nodes[number].waiting - fetched.get(number, 0) if number in now.nodes else 0,
                reasons.get(number, {}),
                counts[number, Outcome.CAME] / of_all[Outcome.ENTERED] if of_all[Outcome.ENTERED] else None,
            )
            for number in numbers
        ],
        days=_days(within, names),
        arms=arms_of(sums),
    )


def arms_of(sums: Iterable[Sum]) -> list[ArmLine]:
    """By name."""
    counts = _by(sums, lambda each: (each.arm, each.outcome))
    arms = sorted({arm for arm, outcome in counts if arm and outcome == Outcome.ARMED})
    return [ArmLine(arm, counts[arm, Outcome.ARMED], counts[arm, Outcome.CONVERTED]) for arm in arms]


def against_control(line: ArmLine, arms: Iterable[ArmLine]) -> Interval | None:
    """How much greater the share of conversions is than without the deeds of the journey."""
    control = next((each for each in arms if each.arm == CONTROL), None)
    if control is None or line.arm == CONTROL:
        return None
    return difference_interval(line.converted, line.members, control.converted, control.members)


def _inside(outcomes: Counter[str]) -> int:
    came = outcomes[Outcome.ENTERED] + outcomes[Outcome.LANDED]
    return came - outcomes[Outcome.LEFT] - outcomes[Outcome.MOVED]


def _waiting(counts: Counter[tuple[int, str]], node: int) -> int:
    come = sum(counts[node, each] for each in (Outcome.CAME, Outcome.LANDED))
    return come - sum(counts[node, each] for each in (Outcome.PASSED, Outcome.LEFT, Outcome.GONE, Outcome.MOVED))


def _by(sums: Iterable[Sum], key: Callable[[Sum], Key]) -> Counter[Key]:
    counts: Counter[Key] = Counter()
    for each in sums:
        counts[key(each)] += each.members
    return counts


def _by_outcome(counts: Mapping[tuple[int, str], int]) -> Counter[str]:
    of_all: Counter[str] = Counter()
    for (_, outcome), members in counts.items():
        of_all[outcome] += members
    return of_all


def _why(sum_: Sum) -> str:
    return sum_.why or _NO_REASON


def _reasons(sums: Iterable[Sum]) -> dict[int, dict[str, int]]:
    """The reasons of members who left, by node."""
    reasons: dict[int, dict[str, int]] = {}
    left = _by((each for each in sums if each.outcome == Outcome.LEFT), lambda each: (each.node, _why(each)))
    for (node, why), members in sorted(left.items()):
        reasons.setdefault(node, {})[why] = members
    return reasons


def _days(sums: Sequence[Sum], names: Mapping[int, str]) -> list[DayLine]:
    counts = _by(sums, lambda each: (each.day, each.version, each.node, each.outcome))
    left: dict[tuple[date, int, int], dict[str, int]] = {}
    for each in sums:
        if each.outcome == Outcome.LEFT:
            reasons = left.setdefault((each.day, each.version, each.node), {})
            reasons[_why(each)] = reasons.get(_why(each), 0) + each.members
    days = sorted({key[:3] for key in counts})
    return [
        DayLine(
            day=day,
            version=version,
            node=names.get(node, _NO_REASON),
            entered=counts[day, version, node, Outcome.ENTERED],
            came=counts[day, version, node, Outcome.CAME],
            passed=counts[day, version, node, Outcome.PASSED],
            left=left.get((day, version, node), {}),
        )
        for day, version, node in days
        if node != NOWHERE or (day, version, node) in left
    ]
