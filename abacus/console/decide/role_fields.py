"""The roles of a person as fields of a form. Known countries of a role are ticked, other countries are typed.
Pure.
"""

from collections.abc import Sequence
from typing import Final

from abacus.console.decide.rights_in_words import EVERYWHERE, allows
from abacus.core.errors import Refused
from abacus.core.fields import Fault
from abacus.documents.form.types import Choice, Field, Group, Option, Several, Table, Text
from abacus.people.decide.names import parse_grants
from abacus.people.types.person import Grant, Role

_ALL: Final = "all"
_ELSEWHERE: Final = "elsewhere"
_MAY_ALL: Final = "do all of it, and manage people"


def roles_field(countries: Sequence[str]) -> Field:
    where = Choice([Option(_ALL, EVERYWHERE), *(Option(each, each) for each in countries)])
    ticked = [
        Field(
            name=role.value,
            sort=Several(where),
            label=role.replace("_", " ").capitalize(),
            help=f"May {_MAY_ALL if role is Role.ADMIN else allows(role)}.",
            begins=f"{role.replace('_', ' ')} in",
        )
        for role in Role
    ]
    typed = Field(
        name=_ELSEWHERE,
        sort=Text(),
        label="In other countries",
        help="A role and the country's two capitals, such as support:TH, with spaces between.",
        begins="and",
    )
    return Field(name="roles", sort=Group([*ticked, typed]), label="Roles")


def read_grants(document: Table, faults: list[Fault]) -> tuple[Grant, ...]:
    """None where there are faults, which are noted."""
    table = document.get("roles", {})
    ticked = [
        role.value if where == _ALL else f"{role}:{where}" for role in Role for where in table.get(role.value, ())
    ]
    try:
        grants = parse_grants([*ticked, *table.get(_ELSEWHERE, "").replace(",", " ").split()])
    except Refused as fault:
        faults.append(Fault(f"roles.{_ELSEWHERE}", str(fault)))
        return ()
    if not grants:
        faults.append(Fault("roles", "Tick at least one: without a role a person may do nothing."))
    return grants


def table_of(grants: Sequence[Grant]) -> Table:
    """What the form begins with."""
    given: dict[str, list[str]] = {}
    for role, country in grants:
        given.setdefault(role.value, []).append(country or _ALL)
    return {"roles": given}
