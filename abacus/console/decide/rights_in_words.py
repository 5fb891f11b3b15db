"""Roles and rights as a person says them: what somebody may do and where, and who may approve. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from abacus.people.decide.rights import countries_of, may, roles_for, words
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Grant, Person, Role

EVERYWHERE: Final = "all countries"
_OF_NONE: Final = "what is of no country: limits of partners, assumptions"


@dataclass(frozen=True)
class Right:
    """Something that a person may do, and where."""

    what: str
    where: str


@dataclass(frozen=True)
class Approvers:
    """Who may approve what is of a country; nobody approves what they asked for."""

    where: str
    who: Sequence[str]


def grants_in_words(grants: Iterable[Grant]) -> str:
    """Say "support in SG and VN, approver in all countries"."""
    by_role: dict[Role, list[str]] = {}
    for role, country in grants:
        by_role.setdefault(role, []).append(country or EVERYWHERE)
    return ", ".join(f"{role.replace('_', ' ')} in {' and '.join(where)}" for role, where in by_role.items())


def rights_of(actor: Actor) -> list[Right]:
    found = [(deed, countries_of(actor, deed)) for deed in Deed]
    return [
        Right(words(deed), EVERYWHERE if where is None else ", ".join(where)) for deed, where in found if where != ()
    ]


def allows(role: Role) -> str:
    """Say "adjust, reverse, move points"."""
    deeds = [deed for deed in Deed if role in roles_for(deed) and deed not in {Deed.SEE, Deed.SIGN_IN}]
    return ", ".join(map(words, deeds)) or words(Deed.SEE)


def approvers_of(people: Iterable[Person], countries: Sequence[str]) -> list[Approvers]:
    actors = [Actor(each.person_id, each.grants) for each in people if each.disabled_at is None]
    return [
        Approvers(where or _OF_NONE, [each.name for each in actors if may(each, Deed.APPROVE, where)])
        for where in (*countries, None)
    ]
