"""Who may do what, and where. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from abacus.core.errors import Refused
from abacus.people.types.deed import Deed
from abacus.people.types.person import Actor, Grant, Registered, Role

# The roles that allow each deed, beside `admin`, which allows all.
_ALLOWED_BY: Final[Mapping[Deed, frozenset[Role]]] = {
    Deed.SEE: frozenset(Role),
    Deed.SIGN_IN: frozenset(Role),
    Deed.ADJUST: frozenset({Role.SUPPORT}),
    Deed.REVERSE: frozenset({Role.SUPPORT}),
    Deed.MOVE_POINTS: frozenset({Role.SUPPORT}),
    Deed.SET_TIERS: frozenset({Role.SUPPORT, Role.COUNTRY_EDITOR}),
    Deed.EDIT_RATES: frozenset({Role.COUNTRY_EDITOR}),
    Deed.PUBLISH_RATES: frozenset({Role.COUNTRY_EDITOR}),
    Deed.PUBLISH_SOURCES: frozenset({Role.COUNTRY_EDITOR, Role.OPERATOR}),
    Deed.PUBLISH_COUNTERS: frozenset({Role.COUNTRY_EDITOR, Role.OPERATOR}),
    Deed.EDIT_CAMPAIGNS: frozenset({Role.COUNTRY_EDITOR}),
    Deed.EDIT_OFFERS: frozenset({Role.COUNTRY_EDITOR}),
    Deed.EDIT_REWARDS: frozenset({Role.COUNTRY_EDITOR}),
    Deed.EDIT_EXCHANGES: frozenset({Role.COUNTRY_EDITOR}),
    Deed.EDIT_JOURNEYS: frozenset({Role.COUNTRY_EDITOR}),
    Deed.EDIT_PLACES: frozenset({Role.COUNTRY_EDITOR}),
    Deed.PUBLISH_DOWNSTREAMS: frozenset({Role.OPERATOR}),
    Deed.PUBLISH_CONTACT: frozenset({Role.COUNTRY_EDITOR}),
    Deed.PUBLISH_SEGMENTS: frozenset({Role.COUNTRY_EDITOR, Role.OPERATOR}),
    Deed.EDIT_PARTNERS: frozenset({Role.OPERATOR}),
    Deed.EDIT_LIMITS: frozenset({Role.OPERATOR, Role.FINANCE}),
    Deed.APPROVE: frozenset({Role.APPROVER}),
    Deed.CLOSE_BOOKS: frozenset({Role.FINANCE}),
    Deed.SET_ASSUMPTIONS: frozenset({Role.FINANCE}),
    Deed.EXPIRE: frozenset({Role.FINANCE, Role.OPERATOR}),
    Deed.SEAL: frozenset({Role.FINANCE, Role.OPERATOR}),
    Deed.RUN_JOBS: frozenset({Role.OPERATOR}),
    Deed.REPLAY: frozenset({Role.OPERATOR}),
    Deed.IMPORT: frozenset({Role.OPERATOR}),
    Deed.ERASE: frozenset({Role.OPERATOR}),
    Deed.MANAGE_PEOPLE: frozenset(),
}

# What nobody may do without having proved who it is. People are managed by a login until there is an admin.
_FOR_PEOPLE: Final = frozenset({Deed.SIGN_IN, Deed.APPROVE, Deed.MANAGE_PEOPLE})


def words(deed: Deed) -> str:
    return deed.replace("-", " ")


def roles_for(deed: Deed) -> list[Role]:
    """The roles that allow the deed, in their order."""
    return [role for role in Role if role is Role.ADMIN or role in _ALLOWED_BY[deed]]


def may(actor: Actor, deed: Deed, country: str | None) -> bool:
    """Whether the actor may do it in this country; without a country, whether in all. A login may do what needs no
    identity: its operator could change the database anyway.
    """
    if actor.grants is None:
        return deed not in _FOR_PEOPLE
    return any(_allows(grant, deed, country) for grant in actor.grants)


def check(actor: Actor, deed: Deed, country: str | None, *, people_required: bool = False) -> None:
    """Raises `Refused` with what is missing. With `people_required` a login may change nothing."""
    if not actor.is_authenticated and (people_required or deed in _FOR_PEOPLE):
        raise Refused(
            f"{actor.name} is a login and no person: to {words(deed)} takes the token of a person in ABACUS_TOKEN"
        )
    if not may(actor, deed, country):
        where = f"in {country}" if country is not None else "in all countries"
        raise Refused(f"{actor.name} may not {words(deed)} {where}; that takes the role {' or '.join(roles_for(deed))}")


def countries_of(actor: Actor, deed: Deed) -> tuple[str, ...] | None:
    """The countries in which the actor may do it; None: in all."""
    if may(actor, deed, None):
        return None
    return tuple(
        sorted({grant.country for grant in actor.grants or () if grant.country and _allows(grant, deed, grant.country)})
    )


def may_somewhere(actor: Actor, deed: Deed) -> bool:
    """Whether the actor may do it in some country."""
    return countries_of(actor, deed) != ()


def is_admin(grants: Iterable[Grant]) -> bool:
    return Grant(Role.ADMIN) in grants


def can_act_as_admin(registered: Registered, now: datetime) -> bool:
    """Whether this person can manage people now: an admin who is not disabled and has a token that holds."""
    person, tokens = registered
    return is_admin(person.grants) and person.disabled_at is None and any(token.holds(now) for token in tokens)


def check_may_manage(actor: Actor, *, has_admin: bool) -> None:
    """Managing people takes an admin, and anybody while no admin can act, so that there can be a first one. Raises
    `Refused`.
    """
    if has_admin:
        check(actor, Deed.MANAGE_PEOPLE, None)


def check_admin_is_left(by: Actor, before: Sequence[Registered], after: Sequence[Registered], now: datetime) -> None:
    """Without an admin who can act by a token any login could manage people, so the last one stays. A person does not
    take away the last admin who can sign in to the console either; a login can enter another one. Raises `Refused`.
    """
    if _some_can_act(before, now) and not _some_can_act(after, now):
        raise Refused("no admin with a valid token would be left; make another one first")
    if by.is_authenticated and _some_are_open(before) and not _some_are_open(after):
        raise Refused("no admin would be left; make another one first")


def _some_can_act(people: Iterable[Registered], now: datetime) -> bool:
    return any(can_act_as_admin(each, now) for each in people)


def _some_are_open(people: Iterable[Registered]) -> bool:
    return any(is_admin(person.grants) and person.disabled_at is None for person, _ in people)


def _allows(grant: Grant, deed: Deed, country: str | None) -> bool:
    fits = grant.country is None or grant.country == country
    return fits and (grant.role is Role.ADMIN or grant.role in _ALLOWED_BY[deed])
