"""The person's own sessions, and its time zone."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from abacus.console.decide.rights_in_words import Right, grants_in_words, rights_of
from abacus.console.entry.decide.sessions import ends_at, zone_of
from abacus.console.entry.types import Session
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, Said, See
from abacus.core.time_zones import all_zones
from abacus.people.types.deed import Deed


@dataclass(frozen=True)
class ShownSession:
    """A session, without what would let anybody use it."""

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
    """The person, its roles and rights, and the sessions that hold."""

    template: ClassVar[str] = "own_sessions.html"
    person_id: str
    roles: Sequence[str]
    is_: str
    rights: Sequence[Right]
    zone: str
    zones: Sequence[tuple[str, str]]
    sessions: Sequence[ShownSession]


async def own_sessions(call: Call) -> OwnSessions:
    return OwnSessions(
        title="You",
        command="abacus people whoami",
        person_id=call.actor.name,
        roles=[str(grant) for grant in call.actor.grants or ()],
        is_=grants_in_words(call.actor.grants or ()),
        rights=rights_of(call.actor),
        zone=call.session.zone,
        zones=[(each, each) for each in dict.fromkeys([call.session.zone, *all_zones()])],
        sessions=[shown_session(call, each) for each in await call.premises.sessions.of(call.actor.name)],
    )


async def end(call: Call) -> See:
    """One of the person's own, or all but this one."""
    store, prefix = call.premises.sessions, call.form.get("prefix")
    others = [each.prefix for each in await store.of(call.actor.name) if each.prefix != call.session.prefix]
    for each in others if prefix == "others" else [prefix]:
        told = call.told(Deed.SIGN_IN, f"person:{call.actor.name}", did="end-session", session=each)
        await store.end(call.actor.name, each, by=call.actor.source, also=told)
    return See("/me", Said("Your other sessions have ended." if prefix == "others" else "The session has ended."))


async def choose_zone(call: Call) -> See:
    zone = call.form.get("zone")
    if zone not in {call.session.zone, *all_zones()}:  # an old name that a browser gave may stay
        raise call.wrong(zone="Choose one.")
    await call.premises.sessions.keep_zone(call.session.prefix, zone_of(zone))
    return See("/me", Said(f"Times are shown in {zone} from now on."))


def shown_session(call: Call, session: Session) -> ShownSession:
    return ShownSession(
        prefix=session.prefix,
        way=session.way,
        started_at=session.started_at,
        seen_at=session.seen_at,
        ends_at=ends_at(session, call.premises.sessions.limits),
        address=session.address,
        browser=session.browser,
        is_this=session.prefix == call.session.prefix,
    )
