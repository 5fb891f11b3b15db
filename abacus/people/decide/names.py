"""What a person may be called, and how a role is written. Pure.

Small ASCII letters only: no two ids look alike, and none holds a character that nobody sees.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from abacus.core.errors import Refused
from abacus.people.types.person import Grant, Role

_MOST: Final = 64
_ALLOWED: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._@+-")
_ID: Final = re.compile(rf"[a-z0-9][a-z0-9._@+-]{{0,{_MOST - 1}}}")
_COUNTRY: Final = re.compile(r"[A-Z]{2}")


def checked_person_id(text: str) -> str:
    """The id, as it was given. Raises `Refused` with the character that is wrong."""
    if _ID.fullmatch(text):
        return text
    strange = next((each for each in text if each not in _ALLOWED), None)
    if strange is not None:
        what = f"{_named(strange)} is not allowed: "
    elif len(text) > _MOST:
        what = f"{len(text)} characters: "
    else:
        what = ""
    raise Refused(
        f"{text!a}: {what}a person's id has 1 to {_MOST} small letters a to z, digits and . _ @ + -,"
        " and begins with a letter or digit"
    )


def parse_grant(text: str) -> Grant:
    """`support:SG`, or `support` for all countries. Raises `Refused`."""
    role, colon, country = text.partition(":")
    try:
        known = Role(role)
    except ValueError:
        raise Refused(f"no role is called {role!a}; there are {', '.join(Role)}") from None
    if colon and not _COUNTRY.fullmatch(country):
        raise Refused(f"{text!a}: {country!a} is not a country; write two capitals ({role}:SG)")
    return Grant(known, country or None)


def parse_grants(texts: Iterable[str]) -> tuple[Grant, ...]:
    """Each once, in the order of the roles. A role in all countries stands for the same role in one. Raises
    `Refused`.
    """
    grants = {parse_grant(text) for text in texts}
    everywhere = {grant.role for grant in grants if grant.country is None}
    kept = [grant for grant in grants if grant.country is None or grant.role not in everywhere]
    return tuple(sorted(kept, key=lambda grant: (list(Role).index(grant.role), grant.country or "")))


def _named(character: str) -> str:
    return f"U+{ord(character):04X} {unicodedata.name(character, 'a character without a name')}"
