"""The person's own sessions, and its time zone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final
from zoneinfo import available_timezones

from abacus.console.entry.decide.sessions import ends_at, zone_of
from abacus.console.web.calls import Call
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.routes import form, page
from abacus.people.types.deed import Deed


@dataclass(frozen=True)
class OpenSession:
    """A session as its owner sees it."""

    prefix: str
    way: str
    started_at: datetime
    seen_at: datetime
    ends_at: datetime
    address: str
    browser: str
    is_this: bool


@dataclass(frozen=True, kw_only=True)
class OwnSessions(Page):
    """The person, its roles, and the sessions that hold."""

    template: ClassVar[str] = "own_sessions.html"
    person_id: str
    roles: Sequence[str]
    zone: str
    sessions: Sequence[OpenSession]
    form: Form = EMPTY


async def own_sessions(call: Call) -> OwnSessions:
    return await _page(call)


async def end(call: Call) -> See:
    """One of the person's own, or all but this one."""
    store, prefix = call.premises.sessions, call.form.get("prefix")
    others = [each.prefix for each in await store.of(call.actor.name) if each.prefix != call.session.prefix]
    for each in others if prefix == "others" else [prefix]:
        told = call.told(Deed.SIGN_IN, f"person:{call.actor.name}", did="end-session", session=each)
        await store.end(call.actor.name, each, by=call.actor.source, also=told)
    return See("/me")


async def choose_zone(call: Call) -> Page | See:
    zone = call.form.get("zone")
    if zone not in available_timezones():
        wrong = "There is no such time zone. One is Asia/Singapore."
        return await _page(call, call.form.shown().but(zone=wrong))
    await call.premises.sessions.keep_zone(call.session.prefix, zone_of(zone))
    return See("/me")


async def _page(call: Call, shown: Form = EMPTY) -> OwnSessions:
    store = call.premises.sessions
    return OwnSessions(
        title="You",
        command="abacus people whoami",
        person_id=call.actor.name,
        roles=[str(grant) for grant in call.actor.grants or ()],
        zone=call.session.zone,
        sessions=[
            OpenSession(
                prefix=each.prefix,
                way=each.way,
                started_at=each.started_at,
                seen_at=each.seen_at,
                ends_at=ends_at(each, store.limits),
                address=each.address,
                browser=each.browser,
                is_this=each.prefix == call.session.prefix,
            )
            for each in await store.of(call.actor.name)
        ],
        form=shown,
    )


SERVED: Final = (page("/me", own_sessions), form("/me/sessions/end", end), form("/me/zone", choose_zone))
