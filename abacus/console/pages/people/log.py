"""The log of what was done, for an admin."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID

from abacus.console.decide.fields import FieldLine, lines_of
from abacus.console.decide.typed import exact_moment
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.forms import Form
from abacus.console.web.page import Page
from abacus.people.store.audit import log as entries_of
from abacus.people.types.deed import Deed, Entry

_MOST: Final = 50
_NARROWS: Final = ("actor", "deed", "subject", "country", "since")


@dataclass(frozen=True)
class Deeds:
    """An entry of the log."""

    entry_id: UUID
    at: datetime
    actor: str
    authenticated: bool
    deed: str
    subject: str
    country: str | None
    details: Sequence[FieldLine]


@dataclass(frozen=True, kw_only=True)
class LogPage(Page):
    """A page of the log, and what it was narrowed to."""

    template: ClassVar[str] = "log.html"
    list: Rows[Deeds]
    choices: Sequence[tuple[str, str]] = (("", "all"), *((deed, deed) for deed in Deed))


async def log(call: Call) -> LogPage:
    asked = {name: value for name in _NARROWS if (value := call.asked(name)) is not None}
    form = Form(asked)
    deed, country = asked.get("deed"), asked.get("country")
    since = exact_moment(asked["since"]) if "since" in asked else None
    if deed not in {None, *Deed}:
        form = form.but(deed="There is no such deed.")
    if country is not None and re.fullmatch("[A-Z]{2}", country) is None:
        form = form.but(country="A country is two capital letters: SG.")
    if "since" in asked and since is None:
        form = form.but(since="A time has an offset: 2026-03-01T00:00:00Z.")
    if form.wrong:
        return LogPage(title="Log", list=Rows(()), form=form)
    found = await entries_of(
        call.reading.pool,
        actor=asked.get("actor"),
        deed=Deed(deed) if deed else None,
        subject=asked.get("subject"),
        since=since,
        countries=[country] if country else None,
        before=place_of(call, UUID),
        limit=_MOST + 1,
    )
    rows = rows_of(call, [_shown(each) for each in found], _MOST, lambda each: (each.at, each.entry_id))
    options = "".join(f" --{name} {shlex.quote(value)}" for name, value in asked.items())
    return LogPage(title="Log", command=f"abacus people log{options}", list=rows, form=form)


def _shown(entry: Entry) -> Deeds:
    details = json.loads(entry.details)
    return Deeds(**entry._asdict() | {"details": lines_of(details) if details else []})
