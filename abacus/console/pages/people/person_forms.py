"""A person is entered, gets other roles and a way in, and is shut out: forms that are shown once more. What lets a
person in is shown once, by the page that made it.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final, NamedTuple, TypeVar

from abacus.console.decide.rights_in_words import grants_in_words
from abacus.console.decide.role_fields import read_grants, roles_field, table_of
from abacus.console.entry.desk import PeopleDesk
from abacus.console.pages.forms.form_page import FormDeed, one_field
from abacus.console.pages.people.people import (
    Handed,
    changed,
    known_countries,
    person_of,
    person_page,
    registered_as,
)
from abacus.console.web.calls import Call
from abacus.console.web.page import Page, See
from abacus.core.errors import Refused
from abacus.core.fields import Bad, DocumentFaults, Fault, Fields, string
from abacus.documents.form.types import Choice, Field, Form, Option, Table, Text
from abacus.people.decide.names import checked_person_id
from abacus.people.directory import PeopleDirectory
from abacus.people.store.approvals import Approvals
from abacus.people.types.person import Grant
from abacus.platform.postgres import Also, nothing_else

_LINKS: Final = {
    "link-15": (timedelta(minutes=15), "a quarter of an hour"),
    "link-60": (timedelta(hours=1), "an hour"),
    "link-1440": (timedelta(days=1), "a day"),
}
_PASSWORD: Final = "password"  # noqa: S105  # the word, and none of them
_AUTHENTICATOR: Final = "authenticator"
_WAYS: Final = (
    *(Option(name, f"a link that lets in once, good for {words}") for name, (_, words) in _LINKS.items()),
    Option(_PASSWORD, "a password, made by the console"),
)
_ALL_WAYS: Final = (*_WAYS, Option(_AUTHENTICATOR, "the secret of an authenticator, for its codes"))
_A_DAY: Final[Table] = {"way": "link-1440"}
_PERSON: Final = Field(
    name="person",
    sort=Text(),
    label="Name to sign in with",
    help="Small letters, digits and . _ @ + -, such as ann or ann@example.com. It never changes.",
    required=True,
    begins="Enter",
)

Value = TypeVar("Value")


class Entered(NamedTuple):
    """A person who is to be entered, and the way in."""

    person_id: str
    grants: tuple[Grant, ...]
    way: str


async def entering(call: Call) -> FormDeed[Entered]:
    async def free(value: Entered) -> None:
        if any(each.person.person_id == value.person_id for each in await call.rooms[PeopleDesk].all()):
            raise DocumentFaults([Fault("person", "there is a person of this id already")])

    async def does(value: Entered) -> Page:
        await call.rooms[PeopleDesk].create(value.person_id, value.grants, call.actor, call.once(nothing_else))
        await call.rooms[PeopleDirectory].refresh()
        return await _handed(call, value.person_id, value.way, nothing_else)

    return FormDeed(
        title="Enter a person",
        about=f"A role may be for some countries, or for all. {_ties(call)}",
        path="/people-enter",
        submit="Enter this person",
        command="abacus people create PERSON --role ROLE:COUNTRY",
        fields=Form([_PERSON, roles_field(await _countries(call)), _way(_WAYS)]),
        begins=_A_DAY,
        read=_entered,
        before=free,
        does=does,
        back="/people",
    )


async def roles(call: Call) -> FormDeed[tuple[Grant, ...]]:
    who = person_of(call)
    now = table_of((await registered_as(call, who)).person.grants)

    async def before(_: tuple[Grant, ...]) -> tuple[str, Table]:
        return "its roles now", now

    async def does(grants: tuple[Grant, ...]) -> See:
        await call.rooms[PeopleDesk].give_roles(who, grants, call.actor, call.once(nothing_else))
        return await changed(call, who, f"{who} is {grants_in_words(grants)} from now on.")

    return FormDeed(
        title=f"Roles of {who}",
        about=f"They take the place of those so far, at once. {_ties(call)}",
        path=f"/people/{who}/roles",
        submit="Give these roles",
        command=f"abacus people roles {who} --role ROLE:COUNTRY",
        fields=Form([roles_field(await _countries(call))]),
        begins=now,
        read=_granted,
        before=before,
        does=does,
        back=f"/people/{who}",
    )


async def way_in(call: Call) -> FormDeed[str]:
    who = person_of(call)
    await registered_as(call, who)

    async def does(way: str) -> Page:
        return await _handed(call, who, way, call.once(nothing_else))

    return FormDeed(
        title=f"A way in for {who}",
        about=f"It is shown once, to be handed over. A password ends the person's sessions, and takes the place of the"
        f" one so far, as an authenticator does. {_ties(call)}",
        path=f"/people/{who}/way-in",
        submit="Make it",
        command=f"abacus console link {who}",
        fields=Form([_way(_ALL_WAYS)]),
        begins=_A_DAY,
        read=one_field("way", _one_of(_ALL_WAYS), ""),
        does=does,
        back=f"/people/{who}",
    )


async def end(call: Call) -> FormDeed[None]:
    who = person_of(call)
    await registered_as(call, who)

    async def does(_: None) -> See:
        await call.rooms[PeopleDesk].disable(who, call.actor, call.once(nothing_else))
        return await changed(call, who, f"{who} is disabled: its tokens are refused, and its sessions have ended.")

    return FormDeed(
        title=f"Disable {who}",
        about="A person who is disabled does nothing any more, until an admin enables it again.",
        path=f"/people/{who}/disable",
        submit=f"Disable {who}",
        command=f"abacus people disable {who}",
        fields=Form([]),
        read=lambda _: None,
        does=does,
        notes=[f"The tokens of {who} are refused, and its sessions end, at once. What it did stays."],
        back=f"/people/{who}",
        is_final=True,
    )


async def _handed(call: Call, who: str, way: str, also: Also) -> Page:
    """Makes the way in, for the page that shows it."""
    desk = call.rooms[PeopleDesk]
    if way == _PASSWORD:
        password = await desk.make_password(who, call.actor, also)
        handed = Handed(f"This is the password of {who}.", password)
    elif way == _AUTHENTICATOR:
        uri = await desk.make_authenticator(who, call.actor, also)
        handed = Handed(f"The authenticator of {who} reads this address.", uri)
    else:
        link = await desk.make_link(who, _LINKS[way][0], call.actor, also)
        handed = Handed(f"This link lets {who} in once.", link.address, link.expires_at)
    return await person_page(call, who, handed)


async def _countries(call: Call) -> Sequence[str]:
    return known_countries(call, [each.person for each in await call.rooms[PeopleDesk].all()])


def _ties(call: Call) -> str:
    days = call.rooms[Approvals].terms.tied.days
    return f"For {days} days a person whom you give access approves nothing that you ask for."


def _way(options: Sequence[Option]) -> Field:
    return Field(name="way", sort=Choice(options), label="Way in", required=True, begins="Hand over")


def _entered(document: Table) -> Entered:
    faults: list[Fault] = []
    fields = Fields(document, "", faults)
    entered = Entered(
        fields.read("person", _person_id, ""), read_grants(document, faults), fields.read("way", _one_of(_WAYS), "")
    )
    return _faultless(entered, faults)


def _granted(document: Table) -> tuple[Grant, ...]:
    faults: list[Fault] = []
    return _faultless(read_grants(document, faults), faults)


def _faultless(value: Value, faults: Sequence[Fault]) -> Value:
    if faults:
        raise DocumentFaults(faults)
    return value


def _one_of(options: Sequence[Option]) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in [each.value for each in options]:
            raise Bad("choose one of the list")
        return str(value)

    return read


def _person_id(value: object) -> str:
    try:
        return checked_person_id(string(value))
    except Refused as fault:
        raise Bad(str(fault)) from None
