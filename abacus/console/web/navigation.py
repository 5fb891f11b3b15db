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
    Section("Tasks", "/tasks", Deed.SEE),
    Section("Campaigns", "/campaigns", Deed.SEE, "Give points"),
    Section("Journeys", "/journeys", Deed.SEE, "Give points"),
    Section("Offers", "/offers", Deed.SEE, "Give points"),
    Section("Rewards", "/rewards", Deed.SEE, "Give points"),
    Section("Exchange programmes", "/exchange-programmes", Deed.SEE, "Give points"),
    Section("Categories", "/categories", Deed.SEE, "Give points"),
    Section("Places", "/places", Deed.SEE, "Give points"),
    Section("Contact", "/contact", Deed.SEE, "Give points"),
    Section("Rates", "/rates", Deed.SEE, "Give points"),
    Section("Counters", "/counters", Deed.SEE, "Give points", everywhere=True),
    Section("Event sources", "/events", Deed.SEE, "Give points", everywhere=True),
    Section("Downstreams", "/downstreams", Deed.SEE, "Give points", everywhere=True),
    Section("Drafts", "/drafts", Deed.SEE, "Give points"),
    Section("Members", "/members", Deed.SEE, "Help"),
    Section("Exchanges", "/exchanges", Deed.SEE, "Help"),
    Section("Where is it?", "/where", Deed.SEE, "Help", everywhere=True),
    Section("Partners", "/partners", Deed.SEE, "Help", everywhere=True),
    Section("Reports and months", "/finance", Deed.SEE, "Account for points", everywhere=True),
    Section("Books with partners", "/exchange-books", Deed.SEE, "Account for points"),
    Section("Assumptions", "/finance/assumptions", Deed.SEE, "Account for points", everywhere=True),
    Section("Proof", "/trust", Deed.SEE, "Account for points", everywhere=True),
    Section("What is wrong", "/operations", Deed.SEE, "Keep it running"),
    Section("Quarantine", "/quarantine", Deed.SEE, "Keep it running", everywhere=True),
    Section("Dead letters", "/dead-letters", Deed.SEE, "Keep it running", everywhere=True),
    Section("Caches", "/caches", Deed.SEE, "Keep it running", everywhere=True),
    Section("People", "/people", Deed.MANAGE_PEOPLE, "Let people in", everywhere=True),
    Section("Log", "/log", Deed.MANAGE_PEOPLE, "Let people in", everywhere=True),
    Section("Settings", "/settings", Deed.RUN_JOBS, "Let people in", everywhere=True),
    Section("Segments", "/segments", Deed.SEE, "Give points"),
)


def open_to(call: Call) -> list[Section]:
    return [each for each in SECTIONS if call.is_open(each.deed, everywhere=each.everywhere)]


class Shortcut(NamedTuple):
    """Keys that are pressed one after the other, and the page that they open."""

    keys: str
    label: str
    path: str


# After `g`, for "go".
_LETTERS: Final = {
    "/": "h",
    "/approvals": "a",
    "/members": "m",
    "/rates": "r",
    "/campaigns": "c",
    "/journeys": "j",
    "/partners": "p",
    "/finance": "f",
    "/operations": "o",
    "/quarantine": "q",
    "/where": "w",
    "/log": "l",
}


def shortcuts_of(call: Call) -> list[Shortcut]:
    """Of the pages that are open to the person."""
    return [
        Shortcut(f"g {_LETTERS[each.path]}", each.label, each.path) for each in open_to(call) if each.path in _LETTERS
    ]
