"""People, for an admin: all of them, and each with its roles, its sessions, and what was just made for it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from abacus.console.decide.rights_in_words import Approvers, Right, approvers_of, grants_in_words, rights_of
from abacus.console.entry.desk import PeopleDesk
from abacus.console.pages.people.own_sessions import ShownSession, shown_session
from abacus.console.web.calls import Call
from abacus.console.web.faults import PageFault
from abacus.console.web.page import Page, Said, See
from abacus.core.errors import Refused
from abacus.people.decide.names import checked_person_id
from abacus.people.directory import PeopleDirectory
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Person, Registered
from abacus.platform.postgres import nothing_else


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


@dataclass(frozen=True)
class Handed:
    """What was just made for a person to get in by: said once, and kept nowhere."""

    says: str
    text: str
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class PeoplePage(Page):
    """Everybody."""

    template: ClassVar[str] = "people.html"
    people: Sequence[PersonRow]
    approvers: Sequence[Approvers]


@dataclass(frozen=True, kw_only=True)
class PersonPage(Page):
    """One person. `handed`: what was just made for it to get in by."""

    template: ClassVar[str] = "person.html"
    person: PersonRow
    sessions: Sequence[ShownSession]
    rights: Sequence[Right]
    has_authenticator: bool
    handed: Handed | None = None


async def people(call: Call) -> PeoplePage:
    registered = await call.rooms[PeopleDesk].all()
    open_by = Counter(each.person_id for each in await call.premises.sessions.of())
    everybody = [each.person for each in registered]
    return PeoplePage(
        title="People",
        command="abacus people list",
        people=[_row(each, open_by[each.person.person_id], call.now) for each in registered],
        approvers=approvers_of(everybody, known_countries(call, everybody)),
    )


async def person(call: Call) -> PersonPage:
    return await person_page(call, person_of(call))


async def enable(call: Call) -> See:
    who = person_of(call)
    await call.rooms[PeopleDesk].enable(who, call.actor, call.once(nothing_else))
    return await changed(call, who, f"{who} may sign in again.")


async def remove_authenticator(call: Call) -> See:
    who = person_of(call)
    await call.rooms[PeopleDesk].remove_authenticator(who, call.actor, call.once(nothing_else))
    return See(f"/people/{who}", Said(f"{who} has no authenticator any more, and signs in without its code."))


async def end_sessions(call: Call) -> See:
    who = person_of(call)
    told = call.once(call.told(Deed.MANAGE_PEOPLE, f"person:{who}", did="end-sessions"))
    ended = await call.premises.sessions.end(who, None, by=call.actor.source, also=told)
    return See(f"/people/{who}", Said(f"Sessions of {who} that ended: {len(ended)}."))


async def person_page(call: Call, who: str, handed: Handed | None = None) -> PersonPage:
    """Raises `PageFault` where there is no such person."""
    registered, sessions = await registered_as(call, who), await call.premises.sessions.of(who)
    row = _row(registered, len(sessions), call.now)
    return PersonPage(
        title=who,
        command=f"abacus people roles {who} {' '.join(f'--role {each}' for each in row.roles)}".rstrip(),
        person=row,
        sessions=[shown_session(call, each) for each in sessions],
        rights=rights_of(Actor(who, registered.person.grants)),
        has_authenticator=await call.rooms[PeopleDesk].has_authenticator(who),
        handed=handed,
    )


async def registered_as(call: Call, who: str) -> Registered:
    """Raises `PageFault` where there is no such person."""
    for each in await call.rooms[PeopleDesk].all():
        if each.person.person_id == who:
            return each
    raise PageFault("not-found", "There is no such person.")


async def changed(call: Call, who: str, text: str) -> See:
    """Every page knows of it from the next request on."""
    await call.rooms[PeopleDirectory].refresh()
    return See(f"/people/{who}", Said(text))


def person_of(call: Call) -> str:
    """Raises `PageFault` for what no person is called."""
    try:
        return checked_person_id(str(call.request.path_params["person"]))
    except Refused:
        raise PageFault("not-found", "There is no such person.") from None


def known_countries(call: Call, people_: Iterable[Person]) -> list[str]:
    """Those with a rate card, and those in which somebody has a role."""
    given = {grant.country for each in people_ for grant in each.grants if grant.country}
    return sorted({*call.premises.countries(), *given})


def _row(registered: Registered, sessions: int, now: datetime) -> PersonRow:
    one = registered.person
    return PersonRow(
        person_id=one.person_id,
        roles=[str(grant) for grant in one.grants],
        is_=grants_in_words(one.grants),
        sessions=sessions,
        tokens=sum(token.holds(now) for token in registered.tokens),
        created_at=one.created_at,
        created_by=one.created_by,
        disabled_at=one.disabled_at,
    )
