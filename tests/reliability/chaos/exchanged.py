"""Both houses after exchanges under faults, id by id: each point is in one place. Pure.

What the partner has is the whole of its ledger, as it tells it to its operator.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from abacus.exchanges.decide.exchange import Exchange, State
from abacus.exchanges.decide.programme import Direction

# Where an exchange stands here, and where its id may stand there then. `None` is an id that never came.
_OUT: Final[Mapping[State, frozenset[str | None]]] = {
    State.CAPTURED: frozenset({"credited"}),
    State.RELEASED: frozenset({"rejected", "cancelled", None}),
    State.REVERSED: frozenset({"reversed"}),
}
_IN: Final[Mapping[State, frozenset[str | None]]] = {
    State.AWARDED: frozenset({"captured"}),
    State.DROPPED: frozenset({"released"}),
}


class Member(NamedTuple):
    """A member, its account at the partner, and what both had at first."""

    member_id: str
    number: str
    points: int
    miles: int


class Ended(NamedTuple):
    """What is there when all has come to rest: our exchanges, both sides' accounts, and the partner's ledger."""

    exchanges: Sequence[Exchange]
    accounts: Mapping[str, tuple[int, int]]  # points by members: the balance, and what is held
    theirs: Mapping[str, Any]


def faults_of_exchanges(members: Sequence[Member], ended: Ended) -> Iterator[str]:
    transfers = {each["id"]: each for each in ended.theirs["transfers"]}
    sent = {each["id"]: each for each in ended.theirs["sent"]}
    ours = {_id(each): each for each in ended.exchanges if each.state is not State.QUOTED}
    for id_, exchange in ours.items():
        out = exchange.direction is Direction.OUT
        there = (transfers if out else sent).get(id_)
        yield from _of_one(exchange, there, (_OUT if out else _IN).get(exchange.state))
    yield from (f"{id_} is {transfers[id_]['state']} there, and unknown here" for id_ in transfers.keys() - ours.keys())
    yield from (f"{id_} is {sent[id_]['state']} there, and unknown here" for id_ in sent.keys() - ours.keys())
    yield from _of_members(members, ended)


def _of_one(exchange: Exchange, there: Mapping[str, Any] | None, may_be: frozenset[str | None] | None) -> Iterator[str]:
    state = None if there is None else there["state"]
    if may_be is None or state not in may_be:
        yield f"{exchange.exchange_id} is {exchange.state} here and {state or 'unknown'} there"
    if there is not None and exchange.direction is Direction.OUT:
        if there["amount"] not in {exchange.theirs, None}:
            yield f"{exchange.exchange_id} is of {there['amount']} there, not of {exchange.theirs}"
        if 5 * exchange.theirs != 2 * exchange.points:
            yield f"{exchange.exchange_id}: {exchange.points} points bought {exchange.theirs}"
    if exchange.state is State.AWARDED and 2 * exchange.points != 3 * exchange.theirs:
        yield f"{exchange.exchange_id}: {exchange.theirs} of theirs bought {exchange.points}"


def _of_members(members: Sequence[Member], ended: Ended) -> Iterator[str]:
    theirs = {each["number"]: (each["balance"], each["held"]) for each in ended.theirs["accounts"]}
    points = {each.member_id: each.points for each in members}
    miles = {each.member_id: each.miles for each in members}
    for each in ended.exchanges:
        if each.state is State.CAPTURED:
            points[each.member_id] -= each.points + each.fee
            miles[each.member_id] += each.theirs
        elif each.state is State.AWARDED:
            points[each.member_id] += each.points
            miles[each.member_id] -= each.theirs
    for member_id, number, *_ in members:
        has, has_there = ended.accounts.get(member_id, (0, 0)), theirs.get(number, (0, 0))
        if (has, has_there) != ((points[member_id], 0), (miles[member_id], 0)):
            due = f"{points[member_id]} points and {miles[member_id]} miles are due"
            yield f"{member_id} has {has} points and {has_there} miles, each with what is held; {due}"


def _id(exchange: Exchange) -> str:
    """As the partner knows it."""
    is_ours = exchange.direction is Direction.OUT
    return str(exchange.exchange_id) if is_ours else exchange.reference or ""
