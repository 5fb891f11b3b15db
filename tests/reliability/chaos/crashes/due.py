"""The transfers and quarantined items that a piece of work has to lead to. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from abacus.core.errors import Reason


class Posted(NamedTuple):
    """A transfer, by the fields that have to be right whatever happens."""

    member_id: str
    key: str
    points: int


class Held(NamedTuple):
    """An item in the quarantine."""

    reason: Reason
    body: bytes


class Told(NamedTuple):
    """An event of the points stream."""

    id: str
    member_id: str
    program: str
    seq: int
    key: str
    points: int


@dataclass
class Due:
    """Transfers and items that have to be there once each, whichever worker was killed."""

    mark: str = ""
    posted: Counter[Posted] = field(default_factory=Counter)
    held: Counter[Held] = field(default_factory=Counter)

    def post(self, member_id: str, key: str, points: int) -> None:
        self.posted[Posted(member_id, key, points)] += 1

    def hold(self, reason: Reason, body: bytes | str) -> None:
        self.held[Held(reason, body.encode() if isinstance(body, str) else body)] += 1


def faults_of(due: Due, posted: Iterable[Posted], held: Iterable[Held], told: Iterable[Told]) -> list[str]:
    """The differences between the rows and events that are due and those that are there."""
    told = list(told)
    faults = [*_difference("transfer", due.posted, Counter(posted)), *_difference("set aside", due.held, Counter(held))]
    once = {event.id: Posted(event.member_id, event.key, event.points) for event in told}
    faults += _difference("event", due.posted, Counter(once.values()))
    return faults + _disorder(told)


def _difference(what: str, due: Counter[Posted] | Counter[Held], actual: Counter[Posted] | Counter[Held]) -> list[str]:
    missing = [f"{what} missing: {each}, {count} times" for each, count in (Counter(due) - Counter(actual)).items()]
    return missing + [
        f"{what} too many: {each}, {count} times" for each, count in (Counter(actual) - Counter(due)).items()
    ]


def _disorder(told: Iterable[Told]) -> list[str]:
    """Faults in the order of events: an account's events come without a gap, and a repeated one says the same."""
    faults: list[str] = []
    reached: Counter[tuple[str, str]] = Counter()
    said: dict[str, Told] = {}
    for event in told:
        account = (event.member_id, event.program)
        if event.seq > reached[account] + 1:
            faults.append(f"event {event.id} comes after seq {reached[account]}")
        reached[account] = max(reached[account], event.seq)
        if said.setdefault(event.id, event) != event:
            faults.append(f"event {event.id} comes again with other content")
    return faults
