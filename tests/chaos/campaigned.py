"""The campaigns of a run, and what has to come of them, by the messages alone. Pure."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, NamedTuple

from abacus.core.ids import campaign_key
from tests.chaos.judge import few

COUNTRY: Final = "SG"
SINCE: Final = datetime(2020, 1, 1, tzinfo=UTC)  # as long as there are cards
_UNTIL: Final = datetime(2090, 1, 1, tzinfo=UTC)
_COMPLETED: Final = "transaction.completed"
_EVENT: Final = f"transactions:{_COMPLETED}:"
_COST_OF_POINT: Final = Decimal("0.01")
_AWARD: Final = "award"
_MOST_RUNS: Final = 2  # of a member, where members have a limit
_THIRD: Final = 3
HOUSE: Final[Mapping[str, Any]] = {
    "source": "house",
    "senders": ["house"],
    "types": {"order.praised": {"order": "text"}},
}
_POINTS: Final[Mapping[str, int]] = {"budgeted": 5, "twice": 3, "later": 2}

Orders = Mapping[str, frozenset[str]]  # who the member of an order may be, by the key of its event


class Transfer(NamedTuple):
    """Points of a campaign in the ledger."""

    key: str
    member_id: str
    points: int


class Action(NamedTuple):
    """A row of `campaign_action`."""

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


@dataclass(frozen=True)
class Campaigned:
    """The orders that campaigns answer to, of which half use up the budget."""

    orders: Orders

    @property
    def affordable(self) -> int:
        """How many orders the budget is enough for."""
        return len(self.orders) // 2

    def documents(self) -> list[dict[str, Any]]:
        """Points while a budget lasts; points twice a member; points some seconds later; a message and an event."""
        budget = {"overall": str(self.affordable * _POINTS["budgeted"] * _COST_OF_POINT), "cost_of_point": "0.01"}
        praised = {"type": "house/order.praised", "var": {"order": "var.transaction_id"}}
        third = [{"tell": {"en": "Three\nThat was order {{count}}."}}, {"publish": praised}]
        return [
            _campaign("budgeted", [{"do": [_award("budgeted")]}], {"budget": budget}),
            _campaign("twice", [{"do": [_award("twice")]}], {"runs": {"member": _MOST_RUNS}}),
            _campaign("later", [{"do": [{**_award("later"), "after": "3s"}]}], {"unlimited": True}),
            _campaign("told", [{"at": _THIRD, "do": third}], {"unlimited": True}),
        ]

    def faults(self, told: Told) -> Iterator[str]:
        """What was lost, done twice, or done beyond a limit."""
        yield from self._claimed(told)
        yield from _done_as_decided(told)
        yield from self._limits(told)
        yield from self._told_once(told)

    def _claimed(self, told: Told) -> Iterator[str]:
        """Every order is decided once for each campaign; once the budget is used up, it need not be any more."""
        for name in ("budgeted", "twice", "later", "told"):
            due = {campaign_key(name, order) for order in self.orders}
            there = Counter(told.claims.get(name, ()))
            decided = sum(events for (campaign, _), (events, _) in told.sums.items() if campaign == name)
            yield from few(f"{name} was decided for what nobody sent", there.keys() - due)
            if name != "budgeted":
                yield from few(f"{name} was not decided", due - there.keys())
            elif len(there) < self.affordable:
                yield f"{name} was decided for {len(there)} orders, and could be for {self.affordable}"
            if decided != there.total():
                yield f"{name}: {there.total()} orders are decided, and {decided} have an outcome"

    def _limits(self, told: Told) -> Iterator[str]:
        points: Counter[str] = Counter()
        transfers: Counter[str] = Counter()
        of_member: Counter[str] = Counter()
        for each in told.transfers:
            name = each.key.split(":")[1]
            points[name] += each.points
            transfers[name] += 1
            of_member[each.member_id] += name == "twice"
        yield from _unlike("points of budgeted", points["budgeted"], self.affordable * _POINTS["budgeted"])
        yield from _unlike("awards of later", transfers["later"], len(self.orders))
        if "budgeted" not in told.exhausted:
            yield "the budget is used up, and its campaign is not exhausted"
        for name, worth in _POINTS.items():
            yield from _unlike(f"points of {name}, by its sums", told.sums.get((name, "done"), (0, 0))[1], points[name])
            yield from _unlike(f"points of {name}", points[name], transfers[name] * worth)
        least, most = self._by_member(only_sure=True), self._by_member(only_sure=False)
        wrong = [
            f"{member}: {of_member[member]} awards"
            for member in most.keys() | of_member.keys()
            if not min(least[member], _MOST_RUNS) <= of_member[member] <= min(most[member], _MOST_RUNS)
        ]
        yield from few("limit of a member", wrong)

    def _told_once(self, told: Told) -> Iterator[str]:
        """Whoever has three orders gets one message, and one event is published, maybe under the same id again."""
        members = [each.member_id for each in told.actions if each.kind == "tell"]
        least, most = self._by_member(only_sure=True), self._by_member(only_sure=False)
        yield from few("told twice", [member for member, times in Counter(members).items() if times > 1])
        yield from few("not told", {each for each, orders in least.items() if orders >= _THIRD} - set(members))
        yield from few("told too early", set(members) - {each for each, orders in most.items() if orders >= _THIRD})
        keys = {f"{each.key}" for each in told.actions if each.kind == "tell"}
        yield from few("messages that nobody decided", Counter(told.notices) - Counter(f"{key}/0" for key in keys))
        yield from few("messages that are not entered", {f"{key}/0" for key in keys} - set(told.notices))
        yield from few("events that nobody decided", set(told.published) - {f"{key}/1" for key in keys})
        yield from few("events that are not published", {f"{key}/1" for key in keys} - set(told.published))

    def _by_member(self, *, only_sure: bool) -> Counter[str]:
        """The orders of each member. Where orders with one key contradict each other, one of their members has it."""
        return Counter(
            member for members in self.orders.values() if not only_sure or len(members) == 1 for member in members
        )


def orders_in(bodies: Iterable[bytes]) -> dict[str, frozenset[str]]:
    """The orders that campaigns answer to."""
    orders: dict[str, frozenset[str]] = {}
    for body in bodies:
        try:
            order = json.loads(body)
        except ValueError:
            continue
        if order["type"] != _COMPLETED or order["country"] != COUNTRY or "member_id" not in order:
            continue
        if not SINCE <= datetime.fromisoformat(order["occurred_at"]) < _UNTIL:
            continue
        key = f"{_EVENT}{order['source']}:{order['transaction_id']}"
        orders[key] = orders.get(key, frozenset()) | {order["member_id"]}
    return orders


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


def _award(campaign: str) -> dict[str, Any]:
    return {"award": {"points": _POINTS[campaign]}}


def _campaign(name: str, steps: Sequence[Mapping[str, Any]], limits: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "country": COUNTRY,
        "timezone": "Asia/Singapore",
        "starts_at": SINCE.isoformat(),
        "ends_at": _UNTIL.isoformat(),
        "on": [_COMPLETED],
        "steps": steps,
        "limits": limits,
    }
