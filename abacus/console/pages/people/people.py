"""People, for an admin: their roles and sessions; to disable and enable them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from abacus.console.decide.rights_in_words import (
    Approvers,
    Right,
    RoleRow,
    approvers_of,
    grants_in_words,
    rights_of,
    role_rows,
)
from abacus.console.pages.people.own_sessions import ShownSession, shown_session
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.forms import EMPTY, Form
from abacus.console.web.page import Page, Said, See
from abacus.core.errors import Refused, Unavailable
from abacus.people.decide.names import checked_person_id, parse_grants
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Grant, Person
from abacus.platform.postgres import Also
from abacus.pricing.store.cards import CardReader


@dataclass(frozen=True)
class PersonRow:
    """A person in the list."""

    person_id: str
    roles: Sequence[str]
    is_: str
    sessions: int
    tokens: int
    created_at: datetime
    created_by: str
    disabled_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class PeoplePage(Page):
    """Everybody."""

    template: ClassVar[str] = "people.html"
    people: Sequence[PersonRow]
    approvers: Sequence[Approvers]


@dataclass(frozen=True, kw_only=True)
class PersonPage(Page):
    """One person. `fault` says why something was refused."""

    template: ClassVar[str] = "person.html"
    person: PersonRow
    sessions: Sequence[ShownSession]
    is_self: bool
    countries: Sequence[str]
    roles: Sequence[RoleRow]
    rights: Sequence[Right]


async def people(call: Call) -> PeoplePage:
    registered = await call.rooms[PeopleStore].all()
    open_by = Counter(each.person_id for each in await call.premises.sessions.of())
    now = call.now
    rows = [
        _row(person, open_by[person.person_id], sum(token.holds(now) for token in tokens))
        for person, tokens in registered
    ]
    everybody = [each.person for each in registered]
    approvers = approvers_of(everybody, _countries(call, everybody))
    return PeoplePage(title="People", command="abacus people list", people=rows, approvers=approvers)


async def person(call: Call, typed: Form = EMPTY, fault: str | None = None) -> PersonPage:
    who = _named(call)
    registered = next((each for each in await call.rooms[PeopleStore].all() if each.person.person_id == who), None)
    if registered is None:
        raise PageFault("not-found", "There is no such person.")
    sessions, countries = await call.premises.sessions.of(who), _countries(call, [registered.person])
    row = _row(registered.person, len(sessions), sum(token.holds(call.now) for token in registered.tokens))
    return PersonPage(
        title=who,
        command=f"abacus people roles {who} {' '.join(f'--role {each}' for each in row.roles)}".rstrip(),
        person=row,
        sessions=[shown_session(call, each) for each in sessions],
        is_self=who == call.actor.name,
        countries=countries,
        roles=role_rows(_typed(typed) or registered.person.grants, countries),
        rights=rights_of(Actor(who, registered.person.grants)),
        form=typed,
        fault=fault,
    )


async def give_roles(call: Call) -> Page | See:
    who, store = _named(call), call.rooms[PeopleStore]
    try:
        grants = parse_grants(call.form.get("roles[]").split())
        told = _told(call, who, did="roles", roles=list(map(str, grants)))
        await store.give_roles(who, grants, by=call.actor, also=told)
    except Refused as fault:
        return await person(call, call.form.shown().but(roles=str(fault)))
    return await _changed(call, who, f"{who} is {grants_in_words(grants)} from now on.")


async def disable(call: Call) -> Page | See:
    """Ends the person's sessions too."""
    who = _named(call)
    try:
        await call.rooms[PeopleStore].disable(who, by=call.actor, also=_told(call, who, did="disable"))
    except Refused as fault:
        return await person(call, fault=str(fault))
    await end_sessions(call)
    return await _changed(call, who, f"{who} is disabled: its tokens are refused, and its sessions have ended.")


async def enable(call: Call) -> Page | See:
    who = _named(call)
    try:
        await call.rooms[PeopleStore].enable(who, by=call.actor, also=_told(call, who, did="enable"))
    except Refused as fault:
        return await person(call, fault=str(fault))
    return await _changed(call, who, f"{who} may sign in again.")


async def end_sessions(call: Call) -> See:
    who = _named(call)
    told = _told(call, who, did="end-sessions")
    ended = await call.premises.sessions.end(who, None, by=call.actor.source, also=told)
    return See(f"/people/{who}", Said(f"Sessions of {who} that ended: {len(ended)}."))


async def _changed(call: Call, who: str, text: str) -> See:
    """Every page knows of it from the next request on."""
    await call.rooms[PeopleDirectory].refresh()
    return See(f"/people/{who}", Said(text))


def _countries(call: Call, people: Iterable[Person]) -> list[str]:
    """Those with a rate card, and those in which somebody has a role."""
    try:
        carded = call.rooms[CardReader].book().countries()
    except Unavailable:
        carded = []
    return sorted({*carded, *(grant.country for person_ in people for grant in person_.grants if grant.country)})


def _typed(typed: Form) -> tuple[Grant, ...]:
    """The roles that were ticked, where they are roles."""
    try:
        return parse_grants(typed.get("roles[]").split())
    except Refused:
        return ()


def _told(call: Call, who: str, **details: object) -> Also:
    return call.told(Deed.MANAGE_PEOPLE, f"person:{who}", country=None, **details)


def _named(call: Call) -> str:
    try:
        return checked_person_id(str(call.request.path_params["person"]))
    except Refused:
        raise PageFault("not-found", "There is no such person.") from None


def _row(person_: Person, sessions: int, tokens: int) -> PersonRow:
    return PersonRow(
        person_id=person_.person_id,
        roles=[str(grant) for grant in person_.grants],
        is_=grants_in_words(person_.grants),
        sessions=sessions,
        tokens=tokens,
        created_at=person_.created_at,
        created_by=person_.created_by,
        disabled_at=person_.disabled_at,
    )
