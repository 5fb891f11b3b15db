"""Things with a page each: a kind and a name, as the log writes them, and the address where the thing is shown."""

from typing import Final, NamedTuple
from urllib.parse import quote, unquote, urlencode

from abacus.console.decide.named import Named
from abacus.console.web.calls import Call
from abacus.people.types.deed import Deed


class Thing(NamedTuple):
    """A kind of things, for people who may do the deed in some country, or everywhere. `path` stands before the name.
    The page of a thing with `versions` shows all of them. A thing that is `logged` is a subject of the log.
    """

    kind: str
    noun: str
    path: str
    deed: Deed = Deed.SEE
    everywhere: bool = False
    versions: bool = False
    logged: bool = True

    def address(self, name: str) -> str:
        return self.path + quote(name.partition("@")[0] if self.versions else name, safe="")


# A capability with things of its own takes its place here.
THINGS: Final = {
    each.kind: each
    for each in (
        Thing("member", "Member", "/members/"),
        Thing("transfer", "Transfer", "/transfers/", logged=False),
        Thing("campaign", "Campaign", "/campaigns/", versions=True),
        Thing("journey", "Journey", "/journeys/", versions=True),
        Thing("offer", "Offer", "/offers/", versions=True),
        Thing("reward", "Reward", "/rewards/", versions=True),
        Thing("programme", "Exchange programme", "/exchange-programmes/", versions=True),
        Thing("categories", "Categories", "/categories/", versions=True),
        Thing("contact", "Contact policy", "/contact/", versions=True),
        Thing("map", "Map", "/places/", versions=True),
        Thing("exchange", "Exchange", "/exchanges/", logged=False),
        Thing("redemption", "Redemption", "/redemptions/", logged=False),
        Thing("card", "Rate card", "/rates/", versions=True),
        Thing("approval", "Approval", "/approvals/"),
        Thing("draft", "Draft", "/drafts/", logged=False),
        Thing("task", "Task", "/tasks/", logged=False),
        Thing("counter", "Counter", "/counters/", everywhere=True, versions=True),
        Thing("source", "Event source", "/events/", everywhere=True, versions=True),
        Thing("downstream", "Downstream", "/downstreams/", everywhere=True, versions=True),
        Thing("partner", "Partner", "/partners/", everywhere=True),
        Thing("quarantine", "Set aside", "/quarantine/items/", everywhere=True, logged=False),
        Thing("month", "Month", "/finance/close/", everywhere=True),
        Thing("person", "Person", "/people/", Deed.MANAGE_PEOPLE, everywhere=True),
        Thing("segment", "Segment", "/segments/"),
    )
}


def address_of(call: Call | None, kind: str, name: str | None) -> str | None:
    """Where the thing is shown; None where it has no page that is open to the person."""
    thing = THINGS.get(kind)
    if call is None or thing is None or not name:
        return None
    return thing.address(name) if call.is_open(thing.deed, everywhere=thing.everywhere) else None


def log_address(call: Call | None, path: str) -> str | None:
    """The log of the thing whose own page has this path, for people who read the log."""
    named = named_at(path)
    if call is None or named is None or not THINGS[named.kind].logged or not call.may(Deed.MANAGE_PEOPLE, None):
        return None
    return f"/log?{urlencode({'kind': named.kind, 'subject': named.name})}"


def named_at(path: str) -> Named | None:
    """The thing whose own page has this path, as browsers send it."""
    for thing in THINGS.values():
        rest = path.removeprefix(thing.path)
        if rest != path and rest and "/" not in rest:
            return Named(thing.kind, unquote(rest))
    return None
