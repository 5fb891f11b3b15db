"""Kinds whose versions have states: a second person approves a version, and it holds for its time. Pure."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Generic, NamedTuple, TypeVar

from abacus.core.fields import Fault
from abacus.documents.decide.states import State, Status, Timed, state_at
from abacus.documents.kind import Around, Between, DocumentKind, Table
from abacus.documents.types import Record
from abacus.people.decide.agreement import canonical
from abacus.people.types.approval import ApprovalKind, Proposal

Running = TypeVar("Running", bound=Timed)
_OWN: Final = ("country", "starts_at", "ends_at", "status", "changed_at", "changed_by")
_APPROVED: Final = ("approved_by", "approved_at", "reason")


class Change(NamedTuple):
    """Who brings a version to another state, when and why. `approved_by` is the second person, where there is one."""

    by: str
    now: datetime
    reason: str | None = None
    approved_by: str | None = None


class Place(NamedTuple):
    """Where a version stands in a list by country and name."""

    country: str
    name: str
    version: int


class Stated(NamedTuple, Generic[Running]):
    """A version with everything that is known of it."""

    document: Running
    status: Status
    drafted_at: datetime
    drafted_by: str
    changed_at: datetime
    changed_by: str
    approved_by: str | None
    approved_at: datetime | None
    reason: str | None

    @property
    def in_force(self) -> bool:
        """Whether it is approved and not over: running, or paused."""
        return self.status in {Status.APPROVED, Status.PAUSED}

    def state(self, now: datetime) -> State:
        return state_at(self.document, self.status, now)


def stated(record: Record[Running]) -> Stated[Running]:
    """The record of a version whose table is a `stated_table`."""
    own = record.version.own
    approved_by, approved_at, reason = (own[each] for each in _APPROVED)
    return Stated(
        record.document,
        Status(own["status"]),
        record.published_at,
        record.published_by,
        own["changed_at"],
        own["changed_by"],
        approved_by,
        approved_at,
        reason,
    )


def last_approved(history: Sequence[Stated[Running]]) -> Running:
    """The newest version that was ever in force, also if that is over; the newest of all where none was. The zone of
    that one is the clock by which what all versions have done is told by day.
    """
    return next((each for each in reversed(history) if each.approved_at is not None), history[-1]).document


def stated_table(name: str, key: str) -> Table:
    """A table with the columns of states, as `campaign` has them."""
    return Table(name, key, own=(*_OWN, *_APPROVED), at="drafted_at", by="drafted_by")


def _no_faults(*_: object) -> list[Fault]:
    return []


def _not_ended(history: Sequence[Record[Running]]) -> Sequence[Record[Running]]:
    return [each for each in history if each.version.own.get("status") != Status.ENDED][-1:]


def _not_over(history: Sequence[Record[Running]], now: datetime) -> Sequence[Record[Running]]:
    """The latest version that is not ended, be it in force or on its way to that."""
    return [each for each in _not_ended(history) if each.document.ends_at > now]


def _behind_the_last(_: object, history: Sequence[Record[Running]]) -> Between[Running]:
    """A draft is compared with the latest version that is not ended, or else with the latest."""
    return next(iter(_not_ended(history) or history[-1:]), None), None


def _anew(record: Record[Running]) -> list[str]:
    """A version that is over is no version to compare with: the same document starts anew."""
    return [f"starts anew: {record.document.label} is ended"] if record.version.own.get("status") == "ended" else []


@dataclass(frozen=True, kw_only=True)
class StatedKind(DocumentKind[Running, Around]):
    """A version is judged again at each step towards its approval, and `check` has its faults beside all versions of
    other documents that wait or are approved. A version that ended less than `late` ago is still in use.
    """

    approval: ApprovalKind
    late: timedelta = timedelta()

    check: Callable[[Running, Iterable[Running], Around], list[Fault]] = _no_faults
    anew: Callable[[Record[Running]], list[str]] = _anew
    between: Callable[[Running, Sequence[Record[Running]]], Between[Running]] = _behind_the_last
    standing: Callable[[Sequence[Record[Running]], datetime], Sequence[Record[Running]]] = _not_over

    @property
    def is_checked_beside(self) -> bool:
        """Whether there is something for which other versions have to be read."""
        return self.check is not _no_faults

    def place(self, version: Running) -> Place:
        return Place(self.country(version) or "", self.name(version), version.version)

    def proposal(self, version: Running, changes: Sequence[str]) -> Proposal:
        """What a second person agrees to: exactly this version."""
        return Proposal(
            kind=self.approval,
            subject=self.name(version),
            country=self.country(version),
            summary=f"run the {self.word} {version.label}: {'; '.join(changes) or 'nothing changes'}",
            document=self.proposed(version),
        )

    def proposed(self, version: Running) -> str:
        """The text that an approval is bound to."""
        return canonical({self.word: self.to_document(version), "version": version.version})
