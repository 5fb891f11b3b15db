"""The pages that the navigation names, for people who may see them."""

from typing import Final, NamedTuple

from abacus.console.web.calls import Call
from abacus.people.types.deed import Deed


class Section(NamedTuple):
    """An entry of the navigation, for people who may do the deed in some country, or everywhere."""

    label: str
    path: str
    deed: Deed
    group: str = ""
    everywhere: bool = False

    @property
    def place(self) -> int:
        """Groups stand in the order of their first entries."""
        return SECTIONS.index(self)


SECTIONS: Final = (
    Section("Home", "/", Deed.SEE),
    Section("Approvals", "/approvals", Deed.SEE),
    Section("Members", "/members", Deed.SEE),
    Section("Rates", "/rates", Deed.SEE),
    Section("Campaigns", "/campaigns", Deed.SEE),
    Section("Counters", "/counters", Deed.SEE, everywhere=True),
    Section("Partners", "/partners", Deed.SEE, everywhere=True),
    Section("Finance", "/finance", Deed.SEE, "Finance", everywhere=True),
    Section("Assumptions", "/finance/assumptions", Deed.SEE, "Finance", everywhere=True),
    Section("Trust", "/trust", Deed.SEE, "Finance", everywhere=True),
    Section("Operations", "/operations", Deed.SEE, "Operations"),
    Section("Quarantine", "/quarantine", Deed.SEE, "Operations", everywhere=True),
    Section("Dead letters", "/dead-letters", Deed.SEE, "Operations", everywhere=True),
    Section("Where is it?", "/where", Deed.SEE, "Operations", everywhere=True),
    Section("Errands", "/errands", Deed.SEE, "Operations"),
    Section("People", "/people", Deed.MANAGE_PEOPLE, "Admin", everywhere=True),
    Section("Log", "/log", Deed.MANAGE_PEOPLE, "Admin", everywhere=True),
    Section("Settings", "/settings", Deed.RUN_JOBS, "Admin", everywhere=True),
)


def open_to(call: Call) -> list[Section]:
    return [
        each for each in SECTIONS if (call.may(each.deed, None) if each.everywhere else call.may_somewhere(each.deed))
    ]
