"""People, for an admin: their roles and sessions; to disable and enable them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final

from abacus.console.entry.types import Session
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, See
from abacus.console.web.routes import form, page
from abacus.core.errors import Refused
from abacus.people.decide.names import checked_person_id, parse_grants
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Person, Role


@dataclass(frozen=True)
class PersonRow:
    """A person in the list."""

    person_id: str
    roles: Sequence[str]
    sessions: int
    tokens: int
    created_at: datetime
    created_by: str
    disabled_at: datetime | None


@dataclass(frozen=True)
class SessionRow:
    """A session of somebody, without what would let anybody use it."""

    prefix: str
    way: str
    started_at: datetime
    seen_at: datetime
    address: str
    browser: str


@dataclass(frozen=True, kw_only=True)
class PeoplePage(Page):
    """Everybody."""

    template: ClassVar[str] = "people.html"
    people: Sequence[PersonRow]


@dataclass(frozen=True, kw_only=True)
class PersonPage(Page):
    """One person. `fault` says why something was refused."""

    template: ClassVar[str] = "person.html"
    person: PersonRow
    sessions: Sequence[SessionRow]
    is_self: bool
    roles: Sequence[str] = tuple(Role)
    form: Form = EMPTY
    fault: str | None = None


async def people(call: Call) -> PeoplePage:
    registered = await call.rooms[PeopleStore].all()
    open_by = Counter(each.person_id for each in await call.premises.sessions.of())
    now = call.now
    rows = [
        _row(person, open_by[person.person_id], sum(token.holds(now) for token in tokens))
        for person, tokens in registered
    ]
    return PeoplePage(title="People", command="abacus people list", people=rows)


async def person(call: Call) -> PersonPage:
    return await _page(call)


async def give_roles(call: Call) -> Page | See:
    who = _named(call)
    try:
        grants = parse_grants(call.form.get("roles").replace(",", " ").split())
    except Refused as fault:
        return await _page(call, call.form.shown().but(roles=str(fault)))
    told = call.told(Deed.MANAGE_PEOPLE, f"person:{who}", did="roles", roles=list(map(str, grants)))
    try:
        await call.rooms[PeopleStore].give_roles(who, grants, by=call.actor, also=told)
    except Refused as fault:
        return await _page(call, call.form.shown().but(roles=str(fault)))
    await call.rooms[PeopleDirectory].refresh()
    return See(f"/people/{who}")


async def disable(call: Call) -> Page | See:
    """Ends the person's sessions too."""
    who = _named(call)
    told = call.told(Deed.MANAGE_PEOPLE, f"person:{who}", did="disable")
    try:
        await call.rooms[PeopleStore].disable(who, by=call.actor, also=told)
    except Refused as fault:
        return await _page(call, fault=str(fault))
    await call.rooms[PeopleDirectory].refresh()
    return await end_sessions(call)


async def enable(call: Call) -> Page | See:
    who = _named(call)
    told = call.told(Deed.MANAGE_PEOPLE, f"person:{who}", did="enable")
    try:
        await call.rooms[PeopleStore].enable(who, by=call.actor, also=told)
    except Refused as fault:
        return await _page(call, fault=str(fault))
    await call.rooms[PeopleDirectory].refresh()
    return See(f"/people/{who}")


async def end_sessions(call: Call) -> See:
    who = _named(call)
    told = call.told(Deed.MANAGE_PEOPLE, f"person:{who}", did="end-sessions")
    await call.premises.sessions.end(who, None, by=call.actor.source, also=told)
    return See(f"/people/{who}")


def _named(call: Call) -> str:
    try:
        return checked_person_id(str(call.request.path_params["person"]))
    except Refused:
        raise PageFault("not-found", "Nobody is called so.") from None


async def _page(call: Call, shown: Form = EMPTY, fault: str | None = None) -> PersonPage:
    who = _named(call)
    registered = next((each for each in await call.rooms[PeopleStore].all() if each.person.person_id == who), None)
    if registered is None:
        raise PageFault("not-found", "Nobody is called so.")
    sessions = await call.premises.sessions.of(who)
    row = _row(registered.person, len(sessions), sum(token.holds(call.now) for token in registered.tokens))
    return PersonPage(
        title=who,
        command=f"abacus people roles {who} {' '.join(f'--role {each}' for each in row.roles)}".rstrip(),
        person=row,
        sessions=[_session(each) for each in sessions],
        is_self=who == call.actor.name,
        form=shown,
        fault=fault,
    )


def _row(person_: Person, sessions: int, tokens: int) -> PersonRow:
    return PersonRow(
        person_id=person_.person_id,
        roles=[str(grant) for grant in person_.grants],
        sessions=sessions,
        tokens=tokens,
        created_at=person_.created_at,
        created_by=person_.created_by,
        disabled_at=person_.disabled_at,
    )


def _session(each: Session) -> SessionRow:
    return SessionRow(each.prefix, each.way, each.started_at, each.seen_at, each.address, each.browser)


SERVED: Final = (
    page("/people", people, Deed.MANAGE_PEOPLE, everywhere=True),
    page("/people/{person}", person, Deed.MANAGE_PEOPLE, everywhere=True),
    form("/people/{person}/roles", give_roles, Deed.MANAGE_PEOPLE, everywhere=True),
    form("/people/{person}/disable", disable, Deed.MANAGE_PEOPLE, everywhere=True),
    form("/people/{person}/enable", enable, Deed.MANAGE_PEOPLE, everywhere=True),
    form("/people/{person}/end-sessions", end_sessions, Deed.MANAGE_PEOPLE, everywhere=True),
)
