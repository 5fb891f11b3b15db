"""A member's transfers by day, and the form that narrows them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from typing import Final
from zoneinfo import ZoneInfo

from abacus.console.decide.typed import midnight_of
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows
from abacus.console.web.forms import Form
from abacus.core.sources import CLOCK, IMPORT, STREAM
from abacus.intake.partners.members import AccountAsOf
from abacus.ledger.store.read import Narrowing
from abacus.ledger.types.kinds import TransferKind
from abacus.oversight.life.decide.told import Told
from abacus.oversight.life.member_life import Transfers

_ALL: Final = ("", "all")
_NAMES: Final = ("kind", "program", "source", "since", "until")
_KINDS: Final = (_ALL, *((kind, kind) for kind in TransferKind))
_SOURCES: Final = (
    _ALL,
    (STREAM, "transactions"),
    ("partner", "partners"),
    ("campaign", "campaigns"),
    ("person", "people"),
    ("login", "logins"),
    (CLOCK, "the clock"),
    (IMPORT, "another system"),
)


@dataclass(frozen=True)
class Day:
    """What happened on a day, by the reader's calendar, and what it came to."""

    day: date
    points: int
    transfers: Sequence[Told]


@dataclass(frozen=True)
class TimelineForm:
    """What the timeline is narrowed to, and the choices of its fields."""

    typed: Form
    program: str | None
    narrowed: Narrowing
    programs: Sequence[tuple[str, str]] = (_ALL,)
    kinds: Sequence[tuple[str, str]] = _KINDS
    sources: Sequence[tuple[str, str]] = _SOURCES

    @property
    def is_narrow(self) -> bool:
        return bool(self.typed.typed)

    def among(self, accounts: Sequence[AccountAsOf]) -> "TimelineForm":
        """With the member's programs to choose from."""
        return replace(self, programs=(_ALL, *((each.program, each.program) for each in accounts)))


def form_of(call: Call) -> TimelineForm:
    """Out of the address. What cannot be read narrows nothing, and is told beside its field."""
    typed = call.narrowed(*_NAMES).with_one_of("kind", list(TransferKind)).with_days("since", "until")
    narrowed = Narrowing(
        kind=typed.get("kind") or None if "kind" not in typed.wrong else None,
        source=typed.get("source") or None,
        since=midnight_of(typed.get("since"), call.session.zone),
        before=midnight_of(typed.get("until"), call.session.zone, later=1),
    )
    return TimelineForm(typed, typed.get("program") or None, narrowed)


def days_of(call: Call, transfers: Transfers) -> Rows[Day]:
    """The newest day first. `more` is the address of the next page, narrowed as this one is."""
    zone = ZoneInfo(call.session.zone)
    by_day = groupby(transfers.rows, lambda each: each.posted_at.astimezone(zone).date())
    days = [(day, list(rows)) for day, rows in by_day]
    more = call.next_page(transfers.more) if transfers.more is not None else None
    return Rows([Day(day, sum(each.points for each in rows), rows) for day, rows in days], more)
