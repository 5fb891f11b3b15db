"""The log of what was done, for an admin."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final
from uuid import UUID

from abacus.console.decide.deed_words import KINDS_OF_DEED
from abacus.console.decide.deeds import Piece, approvals_in, sentence_of
from abacus.console.decide.fields import FieldLine
from abacus.console.decide.typed import midnight_of
from abacus.console.pages.approvals.approval_titles import approval_titles
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.forms import Form
from abacus.console.web.page import Page
from abacus.core.sources import CLOCK, IMPORT, STREAM, person_source
from abacus.people.store.audit import log as entries_of
from abacus.people.types.deed import Deed

_MOST: Final = 50
_NARROWS: Final = ("actor", "deed", "kind", "subject", "country", "from", "to")
_ANYTHING: Final = ""
_KINDS: Final = {
    "member": "a member",
    "approval": "an approval",
    "campaign": "a campaign",
    "reward": "a reward",
    "reward_pool": "a pool of codes",
    "programme": "an exchange programme",
    "journey": "a journey",
    "contact": "a contact policy",
    "card": "a rate card",
    "segment": "a segment",
    "counter": "a counter",
    "source": "a source of events",
    "downstream": "a downstream",
    "partner": "a partner",
    "month": "a month",
    "accounts": "the journal's accounts",
    "assumption": "assumptions",
    "person": "a person",
    "queue": "a queue",
    "job": "a job",
    "import": "an import",
}


@dataclass(frozen=True)
class LoggedDeed:
    """An entry of the log: what the actor did in a sentence, and the details that the sentence leaves out."""

    entry_id: UUID
    at: datetime
    actor: str
    authenticated: bool
    deed: str
    subject: str
    country: str | None
    says: Sequence[Piece]
    besides: Sequence[FieldLine]


@dataclass(frozen=True, kw_only=True)
class LogPage(Page):
    """A page of the log, and what it may be narrowed to."""

    template: ClassVar[str] = "log.html"
    list: Rows[LoggedDeed]
    is_narrow: bool
    deeds: Sequence[tuple[str, str]] = ((_ANYTHING, "anything"), *KINDS_OF_DEED.items())
    kinds: Sequence[tuple[str, str]] = ((_ANYTHING, "anything"), *_KINDS.items())


async def log(call: Call) -> LogPage:
    form = _checked(call.narrowed(*_NARROWS))
    if form.wrong:
        return LogPage(title="Log", list=Rows(()), is_narrow=True, form=form)
    actor, deed, country = form.get("actor"), form.get("deed"), form.get("country")
    subjects = _subjects(form.get("kind"), form.get("subject"))
    zone = call.session.zone
    since, until = midnight_of(form.get("from"), zone), midnight_of(form.get("to"), zone, later=1)
    found = await entries_of(
        call.reading.pool,
        actor=_source(actor) if actor else None,
        deed=Deed(deed) if deed else None,
        subjects=subjects,
        since=since,
        until=until,
        countries=[country] if country else None,
        before=place_of(call, UUID),
        limit=_MOST + 1,
    )
    titles = await approval_titles(call, approvals_in(found))
    rows = []
    for each in found:
        said = sentence_of(each, titles)
        kept = {name: value for name, value in each._asdict().items() if name != "details"}
        rows.append(LoggedDeed(**kept, says=said.says, besides=said.besides))
    options = {
        "actor": _source(actor) if actor else None,
        "deed": deed,
        "subject": subjects[0] if subjects else None,
        "country": country,
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
    }
    command = "".join(f" --{name} {shlex.quote(value)}" for name, value in options.items() if value)
    return LogPage(
        title="Log",
        command=f"abacus people log{command}" if subjects is None or len(subjects) == 1 else None,
        list=rows_of(call, rows, _MOST, lambda each: (each.at, each.entry_id)),
        is_narrow=bool(form.typed),
        form=form,
    )


def _checked(form: Form) -> Form:
    form = form.with_one_of("deed", list(Deed)).with_one_of("kind", _KINDS).with_days("from", "to")
    if form.get("kind") in _KINDS and not form.get("subject"):
        form = form.but(subject=f"Write the name of {_KINDS[form.get('kind')]}.")
    if form.get("country") and re.fullmatch("[A-Z]{2}", form.get("country")) is None:
        form = form.but(country="A country is two capital letters: SG.")
    return form


def _source(typed: str) -> str:
    """A bare name is a person's."""
    return typed if ":" in typed or typed in {STREAM, IMPORT, CLOCK} else person_source(typed)


def _subjects(kind: str, name: str) -> Sequence[str] | None:
    """A bare name is looked for among all kinds."""
    if not name:
        return None
    if kind or ":" in name:
        return [f"{kind}:{name}" if kind else name]
    return [name, *(f"{each}:{name}" for each in _KINDS)]
