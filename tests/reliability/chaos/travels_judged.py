"""The differences between what has to come of a journey and what it has left behind. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from abacus.core.ids import journey_effect_key
from tests.reliability.chaos.judge import few
from tests.reliability.chaos.travelled import DONE, NAME, POINTS, WAITS, WHY, Turn, turn_of


class Visit(NamedTuple):
    """A row of `seat`; `since` when it waited for an event, by the trail, if ever."""

    member_id: str
    visit: int
    why: str | None
    since: datetime | None


class Happened(NamedTuple):
    """An event on its topic: when it happened, and when the broker had it."""

    member_id: str
    type: str
    at: datetime
    stamped_at: datetime


class Left(NamedTuple):
    """What a journey has left behind after a run. `nodes` are numbers by name; of `actions` the keys with whether each
    was done; `ends` are the members whose end the trail has; `notices` and `transfers` have keys, these with points.
    """

    nodes: Mapping[str, int]
    visits: Sequence[Visit]
    happened: Sequence[Happened]
    actions: Sequence[tuple[str, bool]]
    notices: Sequence[str]
    transfers: Sequence[tuple[str, int]]
    ends: Sequence[str]


def faults_of_travels(members: Sequence[str], left: Left) -> Iterator[str]:
    """Entered is inside and left; each effect is there once; and nobody was timed out who did what was waited for."""
    entered = Counter(each.member_id for each in left.visits)
    yield from few("did not enter", set(members) - entered.keys())
    yield from few("entered twice", [each for each, times in entered.items() if times > 1])
    yield from few("entered uncalled", entered.keys() - set(members))
    yield from few("still inside", [each.member_id for each in left.visits if each.why is None])
    gone = Counter(each.member_id for each in left.visits if each.why is not None)
    yield from few("the trail has no end of", (gone - Counter(left.ends)).elements())
    yield from few("the trail has another end of", (Counter(left.ends) - gone).elements())
    yield from _effects(left)
    yield from few("left for another reason", _wrong_ends(left))


def _effects(left: Left) -> Iterator[str]:
    due = Counter(_key(left, each, node) for each in left.visits for node in DONE.get(each.why or "", ()))
    there = Counter(key for key, _ in left.actions)
    yield from few("of the journey not decided", (due - there).elements())
    yield from few("of the journey decided for nothing", (there - due).elements())
    yield from few("of the journey not done", [key for key, is_done in left.actions if not is_done])
    gift = f":{left.nodes['gift']}"
    awards = Counter((key, POINTS) for key in due.elements() if key.endswith(gift))
    posted = Counter(left.transfers)
    yield from few("awards of the journey not posted", (awards - posted).elements())
    yield from few("posted for the journey for nothing", (posted - awards).elements())
    messages = Counter(f"{key}/0" for key in due.elements() if not key.endswith(gift))
    told = Counter(left.notices)
    yield from few("messages of the journey not entered", (messages - told).elements())
    yield from few("messages of the journey for nothing", (told - messages).elements())


def _wrong_ends(left: Left) -> Iterator[str]:
    """What happened after the end of a wait, by the time of the broker, may come too late for it."""
    happened = {(each.member_id, each.type): each for each in reversed(left.happened)}
    for member_id, _, why, since in left.visits:
        turn = turn_of(member_id)
        event = happened.get((member_id, turn))
        may = {WHY[Turn.STAYS]} if turn is Turn.STAYS or event is None else {WHY[turn], WHY[Turn.STAYS]}
        if event is not None and since is not None and since < event.at and event.stamped_at <= since + WAITS:
            may = {WHY[turn]}
        if why is not None and why not in may:
            yield f"{member_id}: {why}, not {' or '.join(sorted(may))}"


def _key(left: Left, visit: Visit, node: str) -> str:
    return journey_effect_key(NAME, visit.visit, visit.member_id, left.nodes[node], 0)
