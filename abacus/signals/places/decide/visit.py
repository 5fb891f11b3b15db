"""How positions become visits to regions: when a member enters one, and when it has left. Pure.

A member enters a region by a position inside it, and has left it by one that is farther than some metres beyond its
border, however inaccurate that position is. A change that comes too soon after the last one of that region is not one
yet: a later position that still says so makes it one. So what is known of a visit is what was told of it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, Protocol

from abacus.signals.places.decide.country_map import Following
from abacus.signals.places.decide.point import Point
from abacus.signals.places.decide.position import Position
from abacus.signals.places.decide.region import RegionName

TOO_LATE: Final = timedelta(hours=1)  # a position that comes so late tells no news
SEEN_EVERY: Final = timedelta(minutes=1)  # a visit that goes on is written so often


class Regions(Protocol):
    """The regions in force."""

    def at(self, point: Point, /) -> Sequence[RegionName]: ...
    def distance(self, region_id: str, point: Point, /) -> float: ...
    def named(self, region_id: str, /) -> RegionName | None: ...


class Visit(NamedTuple):
    """Whether a member is in a region, since when it is or is not, and when a position said so last."""

    member_id: str
    region: str
    inside: bool
    since: datetime
    seen_at: datetime


class Crossing(NamedTuple):
    """A member has entered or left a region. `regions` has all in which it is by the same position."""

    member_id: str
    region: RegionName
    entered: bool
    at: datetime
    regions: tuple[str, ...]


class Followed(NamedTuple):
    """What came of the positions of some members: the visits that are others now, what members are told to have
    crossed, and how many positions came too late.
    """

    visits: Sequence[Visit]
    crossings: Sequence[Crossing]
    late: int


def latest(visits: Iterable[Visit]) -> dict[tuple[str, str], Visit]:
    """The last of each member and region."""
    found: dict[tuple[str, str], Visit] = {}
    for each in visits:
        other = found.setdefault((each.member_id, each.region), each)
        if other.seen_at < each.seen_at:
            found[each.member_id, each.region] = each
    return found


def follow(
    positions: Iterable[Position],
    known: Iterable[Visit],
    regions: Regions,
    following: Callable[[str], Following],
    now: datetime,
) -> Followed:
    """What comes of positions, in the order of their times. `following` says how members are followed in a country."""
    before: dict[str, dict[str, Visit]] = {}
    for each in known:
        before.setdefault(each.member_id, {})[each.region] = each
    crossings: list[Crossing] = []
    changed: dict[tuple[str, str], Visit] = {}
    late = 0
    for position in sorted(positions, key=lambda each: each.at):
        visits = before.setdefault(position.member_id, {})
        if position.at < now - TOO_LATE or any(position.at <= each.seen_at for each in visits.values()):
            late += 1
            continue
        step = _Step(position, regions, following)
        for after in [*step.gone_on(visits), *step.entered(visits)]:
            visits[after.region] = after
            changed[after.member_id, after.region] = after
        crossings += step.crossings
    return Followed([changed[key] for key in sorted(changed)], crossings, late)


class _Step:
    """One position, beside what is known of its member."""

    def __init__(self, position: Position, regions: Regions, following: Callable[[str], Following]) -> None:
        self._position = position
        self._regions = regions
        self._following = following
        self._here = regions.at(position.point)
        self._ids = tuple(each.id for each in self._here)
        self.crossings: list[Crossing] = []

    def gone_on(self, visits: Mapping[str, Visit]) -> Iterable[Visit]:
        """The visits in which the member is: ended, or seen again."""
        at = self._position.at
        for visit in [each for each in visits.values() if each.inside]:
            region = self._regions.named(visit.region)
            if region is None:  # it is drawn no more, so nobody leaves it
                yield visit._replace(inside=False, since=at, seen_at=at)
            elif self._has_left(visit, region):
                yield self._crossed(region, entered=False)
            elif at - visit.seen_at >= SEEN_EVERY:
                yield visit._replace(seen_at=at)

    def entered(self, visits: Mapping[str, Visit]) -> Iterable[Visit]:
        for region in self._here:
            visit, following = visits.get(region.id), self._following(region.country)
            if visit is not None and (visit.inside or self._is_too_soon(visit, following)):
                continue
            if self._position.accuracy_m <= following.leave_after_m:
                yield self._crossed(region, entered=True)

    def _has_left(self, visit: Visit, region: RegionName) -> bool:
        following = self._following(region.country)
        if region.id in self._ids or self._is_too_soon(visit, following):
            return False
        away_m = self._regions.distance(region.id, self._position.point)
        return away_m - self._position.accuracy_m > following.leave_after_m

    def _is_too_soon(self, visit: Visit, following: Following) -> bool:
        return self._position.at - visit.since < timedelta(minutes=following.once_in_minutes)

    def _crossed(self, region: RegionName, *, entered: bool) -> Visit:
        member_id, at = self._position.member_id, self._position.at
        self.crossings.append(Crossing(member_id, region, entered, at, self._ids))
        return Visit(member_id, region.id, entered, at, at)
