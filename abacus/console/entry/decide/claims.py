"""Who a person is, by what a provider of identities says: an id, and roles from groups. Pure."""

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from abacus.core.errors import Refused
from abacus.people.decide.names import checked_person_id, parse_grants
from abacus.people.types.person import Grant

EMAIL: Final = "email"


class Vouched(NamedTuple):
    """A person as the provider knows it."""

    person_id: str
    grants: tuple[Grant, ...]


class ClaimRules(NamedTuple):
    """Which claims say who it is and to which groups it belongs, and the roles of each group."""

    id_claim: str
    groups_claim: str
    roles: Mapping[str, tuple[str, ...]]


def read_groups(text: str) -> Mapping[str, tuple[str, ...]]:
    """The roles of each group, from `{"group": ["support:SG"]}`. Raises `ValueError` or `Refused`."""
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError('{"group": ["role:COUNTRY"]} is needed')  # noqa: TRY004  # as pydantic wants it
    roles: dict[str, tuple[str, ...]] = {}
    for group, given in document.items():
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            raise ValueError(f'{group}: a list of roles is needed, such as ["support:SG"]')
        parse_grants(given)
        roles[group] = tuple(given)
    return roles


def vouched(claims: Mapping[str, Any], reading: ClaimRules) -> Vouched:
    """Raises `Refused` for an id that no person can have, an address that was not checked, or groups without a role."""
    given = claims.get(reading.id_claim)
    if not isinstance(given, str) or not given:
        raise Refused(f"the provider names nobody: the claim {reading.id_claim} is missing")
    if reading.id_claim == EMAIL:
        if claims.get("email_verified") in {False, "false"}:
            raise Refused(f"the provider has not checked the address {given!a}")
        given = given.lower()
    groups = claims.get(reading.groups_claim, [])
    several = groups if isinstance(groups, list) else [groups]
    named = [each for each in several if isinstance(each, str)]
    return Vouched(
        checked_person_id(given), parse_grants(role for group in named for role in reading.roles.get(group, ()))
    )
