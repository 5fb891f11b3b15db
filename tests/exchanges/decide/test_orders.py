"""Every order of messages between both houses, for one exchange each way.

What was sent stays on the wire for ever: it may arrive late, often, in any order, or never. All states that can be
reached are walked through. Points may never be in both houses, and from each state both can come to an end.
"""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypeVar

import pytest

from abacus.core.errors import Refused
from abacus.exchanges.decide.exchange import ENDED, Exchange, State
from abacus.exchanges.decide.heard import (
    Cancelled,
    Credited,
    Heard,
    NotKnown,
    NotTakenBack,
    OtherFacts,
    Pending,
    Rejected,
    Silence,
    TakenBack,
)
from abacus.exchanges.decide.programme import ByHttp, Programme
from abacus.exchanges.decide.turn import Act, Reason, Verdict, act, moved, reversing, settled, turn, woken
from tests.support.exchanged import NOW, exchange, skymiles

_FOR_GOOD: Final = NOW + timedelta(days=4)
_TELLS: Final[Mapping[str, Heard]] = {
    "credited": Credited(1000, "r"),
    "refused": Rejected("account-closed", "closed"),
    "tomb": Cancelled(),
    "none": NotKnown(),
    "reversed": TakenBack(),
    "silence": Silence("no answer"),
    "pending": Pending(),
}
Node = TypeVar("Node", bound=Hashable)


class House(NamedTuple):
    """A partner's manners."""

    remembers: bool = True
    buries: bool = True
    says_so: bool = True  # what it does not bury is not known to it, and no tombstone is told of
    is_restored: bool = False


class Both(NamedTuple):
    """Our row, theirs, and what is on the wire."""

    ours: Exchange
    theirs: str
    wire: frozenset[str]


def walk(start: Node, following: Callable[[Node], Iterable[Node]]) -> dict[Node, list[Node]]:
    """All nodes that can be reached, with the next of each."""
    found: dict[Node, list[Node]] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        if node not in found:
            found[node] = list(following(node))
            queue.extend(found[node])
    return found


def can_come_to(found: Mapping[Node, list[Node]], is_end: Callable[[Node], bool]) -> set[Node]:
    """The nodes from which an end can be reached."""
    before: dict[Node, list[Node]] = {}
    for node, nexts in found.items():
        for each in nexts:
            before.setdefault(each, []).append(node)
    ends = {node for node in found if is_end(node)}
    queue = deque(ends)
    while queue:
        for each in before.get(queue.popleft(), ()):
            if each not in ends:
                ends.add(each)
                queue.append(each)
    return ends


def played(programme: Programme, house: House) -> dict[Both, list[Both]]:
    def following(both: Both) -> Iterator[Both]:
        ours, theirs, wire = both
        for now in (NOW, _FOR_GOOD):
            yield from _done(_plain(woken(ours, now, programme)), theirs, wire)
        if house.is_restored and theirs in {"refused", "tomb"}:
            yield Both(ours, "none", wire)
        for message in wire:
            if message.endswith("!"):
                after = turn(ours, _TELLS[message[:-1]], NOW, programme)
                yield Both(_plain(after), theirs, wire)
            else:
                for then in _arrived(message, theirs, house):
                    said = "tomb" if message == "cancel" and then == "none" and not house.says_so else then
                    yield Both(ours, then, wire | {f"{said}!", "silence!", "pending!"})

    def _done(ours: Exchange, theirs: str, wire: frozenset[str]) -> Iterator[Both]:
        match act(ours):
            case Act.PUT | Act.GET | Act.CANCEL as asked:
                yield Both(ours, theirs, wire | {asked.value})
            case Act.CAPTURE | Act.RELEASE:
                yield Both(_plain(moved(ours, NOW)), theirs, wire)

    return walk(Both(_plain(exchange()), "none", frozenset()), following)


def _arrived(message: str, theirs: str, house: House) -> Iterator[str]:
    match message, theirs:
        case "put", "none":
            yield from ("credited", "refused")
        case "put", "refused" if not house.remembers:
            yield from ("credited", "refused")
        case "cancel", "none":
            yield "tomb" if house.buries else "none"
        case "cancel", "refused" if not house.remembers:
            yield "tomb" if house.buries else "refused"
        case _:
            yield theirs


def _plain(ours: Exchange) -> Exchange:
    """Without what only counts and times."""
    return exchange(ours.state, reason=ours.reason, attempts=min(ours.attempts, 1))


def _in_two_places(both: Both) -> bool:
    return both.ours.state is State.RELEASED and both.theirs == "credited"


def _remembering(*, is_so: bool) -> Programme:
    return skymiles(carrier=ByHttp("https://partner.example", is_so))


@pytest.mark.parametrize(
    ("house", "is_reported_to_remember", "goes_wrong"),
    [
        pytest.param(House(), True, False, id="as designed"),
        pytest.param(House(remembers=False), True, True, id="it forgets refusals, and we take its word"),
        pytest.param(House(remembers=False), False, False, id="it forgets refusals, and only a tombstone releases"),
        pytest.param(House(buries=False), True, False, id="it writes no tombstone, and answers 404 to a cancel"),
        pytest.param(House(buries=False, says_so=False), True, True, id="it tells of a tombstone, and writes none"),
        pytest.param(House(is_restored=True), True, True, id="it is restored to an old backup"),
    ],
)
def test_points_are_never_in_two_places(house: House, *, is_reported_to_remember: bool, goes_wrong: bool) -> None:
    """But for a partner that breaks its word; and that is told as soon as it is heard."""
    programme = _remembering(is_so=is_reported_to_remember)
    found = played(programme, house)
    wrong = [both for both in found if _in_two_places(both)]
    assert bool(wrong) is goes_wrong
    for both in wrong:
        told = turn(both.ours, _TELLS["credited"], NOW, programme)
        assert (told.state, told.reason) == (State.RELEASED, Reason.CREDITED_AFTER_CANCEL)
    for both in found:
        assert both.ours.state is not State.CAPTURED or both.theirs == "credited"


@pytest.mark.parametrize("house", [House(), House(remembers=False)])
def test_whatever_was_lost_both_come_to_an_end(house: House) -> None:
    found = played(_remembering(is_so=house.remembers), house)
    assert can_come_to(found, lambda both: both.ours.state in ENDED) == set(found)


def test_what_was_given_back_was_debited_first() -> None:
    """For a reversal that is asked for, in every order, with a partner that does it or does not."""

    def following(both: Both) -> Iterator[Both]:
        ours, theirs, wire = both
        if act(ours) is Act.REVERSE:
            yield Both(ours, theirs, wire | {"reverse"})
        if act(ours) is Act.GIVE_BACK:
            yield Both(_plain(moved(ours, NOW)), theirs, wire)
        if ours.state is State.CAPTURED and ours.reason is None:
            yield Both(_plain(reversing(ours._replace(credited_at=NOW), NOW, skymiles())), theirs, wire)
        if "reverse" in wire:
            for then in ("kept", "reversed") if theirs == "credited" else (theirs,):
                yield Both(ours, then, wire | {f"{then}!", "silence!"})
        for message in wire:
            heard = NotTakenBack() if message == "kept!" else _TELLS.get(message[:-1])
            if message.endswith("!") and heard is not None:
                yield Both(_plain(turn(ours, heard, NOW, skymiles())), theirs, wire)

    start = Both(exchange(State.CAPTURED), "credited", frozenset({"credited!", "pending!"}))
    found = walk(start, following)
    states = {both.ours.state for both in found}
    assert states == {State.CAPTURED, State.REVERSING, State.TAKEN_BACK, State.REVERSED}
    for both in found:
        assert both.ours.state not in {State.TAKEN_BACK, State.REVERSED} or both.theirs == "reversed"
    assert can_come_to(found, lambda both: both.ours.state in ENDED) == set(found)


_ALL: Final = [*_TELLS.values(), Credited(900), OtherFacts(), NotTakenBack()]


@pytest.mark.parametrize("heard", _ALL, ids=[type(each).__name__ for each in _ALL])
@pytest.mark.parametrize("state", State)
def test_each_word_at_each_state(state: State, heard: Heard) -> None:
    """Only the partner's refusal and its tombstone let points go; only its credit takes them."""
    before = exchange(state)
    after = turn(before, heard, NOW, skymiles())
    if after.state is not before.state:
        if after.state in {State.REJECTED, State.CANCELLED}:
            assert isinstance(heard, Rejected | Cancelled)
        if after.state is State.CREDITED:
            assert heard == Credited(1000, "r")
        if after.state is State.TAKEN_BACK:
            assert isinstance(heard, TakenBack)
    assert turn(after, heard, NOW, skymiles())._replace(attempts=0) == after._replace(attempts=0)


def test_another_amount_is_a_persons() -> None:
    aside = turn(exchange(State.SENT), Credited(900), NOW, skymiles())
    assert (aside.state, aside.reason, aside.due_at, act(aside)) == (State.ASIDE, Reason.OTHER_AMOUNT, None, None)
    assert act(settled(aside, Verdict.CREDITED, NOW, "by telephone")) is Act.CAPTURE
    assert act(settled(aside, Verdict.ASK, NOW, "mended")) is Act.GET
    assert act(settled(aside, Verdict.CANCEL, NOW, "wrong")) is Act.CANCEL


def test_the_next_question_waits_as_long_as_the_exchange_is_old() -> None:
    for age, most in [(0, 1), (40, 40), (86_400, 3600)]:
        now = NOW + timedelta(seconds=age)
        waits = [
            (turn(exchange(State.SENT), Silence("away"), now, skymiles(), share).due_at or now) - now
            for share in (0.0, 1.0)
        ]
        assert waits == [timedelta(seconds=most / 2), timedelta(seconds=most)]
    told = turn(exchange(State.SENT), Silence("busy", 120.0), NOW, skymiles()).due_at
    assert told == NOW + timedelta(seconds=120)


def test_only_what_was_credited_lately_is_taken_back() -> None:
    credited: dict[str, Any] = {"credited_at": NOW}
    with pytest.raises(Refused, match="nothing back"):
        reversing(exchange(State.CAPTURED, **credited), NOW, skymiles(reverses_for=None))
    with pytest.raises(Refused, match="until"):
        reversing(exchange(State.CAPTURED, **credited), NOW + timedelta(days=30), skymiles())
    with pytest.raises(Refused, match="the exchange is sent"):
        reversing(exchange(State.SENT), NOW, skymiles())


def test_a_partner_that_speaks_by_itself_is_asked_again_by_time_alone() -> None:
    """By files: in a day, or as soon as it is late for good."""
    waits, programme = Pending("it waits for a file", by_itself=True), skymiles(cancel_after=timedelta(hours=30))
    sent = turn(woken(exchange(State.HELD), NOW, programme), waits, NOW, programme)
    assert (sent.state, sent.due_at, act(sent)) == (State.SENT, NOW + timedelta(days=1), Act.GET)
    late = turn(sent, waits, NOW + timedelta(days=1), programme)
    assert late.due_at == NOW + timedelta(hours=30)
    cancelling = woken(late, NOW + timedelta(hours=30), programme)
    assert (cancelling.state, cancelling.reason) == (State.CANCELLING, Reason.LATE)
    again = turn(cancelling, waits, NOW + timedelta(hours=30), programme)
    assert (again.state, again.due_at) == (State.CANCELLING, NOW + timedelta(hours=54))
    never = skymiles(cancel_after=None)
    assert turn(sent, waits, NOW + timedelta(days=9), never).due_at == NOW + timedelta(days=10)
