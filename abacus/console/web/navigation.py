"""The pages that the navigation names, for those who may see them."""

from typing import Final, NamedTuple

from abacus.console.web.calls import Call
from abacus.people.types.deed import Deed


class Section(NamedTuple):
    """An entry of the navigation, for whoever may do the deed in some country."""

    label: str
    path: str
    deed: Deed
    group: str


SECTIONS: Final = (
    Section("Home", "/", Deed.SEE, ""),
    Section("Approvals", "/approvals", Deed.SEE, ""),
    Section("People", "/people", Deed.MANAGE_PEOPLE, "Admin"),
    Section("Log", "/log", Deed.MANAGE_PEOPLE, "Admin"),
)


def open_to(call: Call) -> list[Section]:
    return [each for each in SECTIONS if call.may_somewhere(each.deed)]
