"""What is asked of the console: every page that it serves, about something that the house has, and besides what is
likely to be slow: lists narrowed to nothing, a busy member, and searches for what half the house has or nobody.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from abacus.api.answer_examples import JOURNEY_DOCUMENT
from abacus.console.web.routes import Served
from benchmarks import console_house as house
from benchmarks.ride_offers import SOURCE, segment_name
from benchmarks.verify import member

ADMIN: Final = "admin"
AGENT: Final = "zoe"  # helps the members of the smallest country, and approves there
ROLES: Final[Mapping[str, Sequence[str]]] = {ADMIN: ["admin"], AGENT: ["support:PH", "approver:PH"]}
MONTH: Final = "2026-06"

_FAR: Final = 7919  # a prime: accounts that are asked for one after the other lie far from each other


class Asked(NamedTuple):
    """A page by its name; `address` is where it is when it is asked for the nth time, of so many accounts."""

    name: str
    address: Callable[[int, int], str]
    by: str = ADMIN


# What stands in a path for the things of the house. Whole paths stand before parts of them.
_STANDS_FOR: Final[Mapping[str, str]] = {
    "/approvals/{id:uuid}": f"/approvals/{house.OF_CAMPAIGN}",
    "/tasks/{id:uuid}": f"/tasks/{house.TASK}",
    "/rates-backtests/{trial:uuid}": f"/rates-backtests/{house.CARD_TRIAL}",
    "/campaign-trials/{trial:uuid}": f"/campaign-trials/{house.CAMPAIGN_TRIAL}",
    "/journey-trials/{trial:uuid}": f"/journey-trials/{house.JOURNEY_TRIAL}",
    "/reward-trials/{trial:uuid}": f"/reward-trials/{house.REWARD_TRIAL}",
    "/offer-trials/{trial:uuid}": f"/offer-trials/{house.OFFER_TRIAL}",
    "/quarantine/selections/{selection:uuid}": f"/quarantine/selections/{house.SELECTION}",
    "/quarantine/items/{item}": f"/quarantine/items/{house.held_item(7)}",
    "/campaigns/{name}": "/campaigns/armed",
    "/redemptions/{id:uuid}": f"/redemptions/{house.RESERVATION}",
    "/exchanges/{id:uuid}": f"/exchanges/{house.EXCHANGE}",
    "/exchange-links/{id:uuid}": f"/exchange-links/{house.LINK}",
    "/exchange-breaks/{id:uuid}": f"/exchange-breaks/{house.BREAK}",
    "/exchange-programmes/{name}": "/exchange-programmes/skymiles",
    "/exchange-books/{programme}": "/exchange-books/skymiles",
    "/offers/{name}": "/offers/lunch_20",
    "/rewards/{name}": "/rewards/coffee",
    "/journeys/{name}/enter": f"/journeys/{house.BY_HAND['name']}/enter",
    "/journeys/{name}": f"/journeys/{JOURNEY_DOCUMENT['name']}",
    "/offers-preview": "/offers-preview?country=SG&categories=food&price=10",
    "/rates/{scope}": "/rates/SG",
    "/finance/reports/{report}": "/finance/reports/cohorts",
    "/finance/close/{month}": f"/finance/close/{MONTH}",
    "/people/{person}": "/people/p001",
    "/partners/{partner}": "/partners/acme",
    "/counters/{counter}": f"/counters/{house.COUNTER}",
    "/counters/counts.csv": f"/counters/counts.csv?keys={house.COUNTED}&step=hours",
    "/categories/{document}": "/categories/SG",
    "/contact/{document}": "/contact/SG",
    "/places/{document}": "/places/SG",
    "/events/{document}": f"/events/{SOURCE}",
    "/downstreams/{document}": "/downstreams/coupons",
    "/search": "/search?q=m0000",
    "/suggestions": "/suggestions?q=m0000",
    "{file}": house.FILE,
    "{table}": house.TABLE,
    "{draft:uuid}": str(house.DRAFT),
    "{segment}": segment_name(0, 7),
}
_MORE: Final = (
    "/pulse?range=week",
    f"/members/{member(0)}",
    f"/members/{member(0)}?kind=reverse",
    "/members-adjust/nobody",
    "/campaigns?state=running",
    "/campaigns?state=draft",
    "/campaigns/ride_00001",
    "/campaigns-draft?of=ride_00001",
    "/rates-draft?of=SG",
    "/rates-quote?country=SG&amount=10",
    "/counters?keys=rides_0:city:1&step=quarters",
    "/approvals?status=pending",
    "/approvals?status=expired",
    f"/approvals/{house.OF_CARD}",
    f"/approvals/{house.OF_MOVE}",
    "/log?country=PH",
    "/log?actor=person:nobody",
    "/log?deed=erase",
    "/log?subject=member:nobody",
    f"/log?subject=member:{member(7)}",
    "/log?kind=campaign&subject=ride_00001",
    "/tasks?state=failed",
    "/quarantine?reason=unknown-tier",
    "/partners/acme/requests?shown=refused",
    "/where?key=T-77",
    "/where?key=txn:food:T-77",
    "/finance/reports/rollforward",
    "/finance/reports/liability",
    "/trust?before=100",
)
# Short beginnings, the middle of an id, what nobody has, and what everybody has.
_SEARCHED: Final = ("m", "m0", "000", "zzz", "a", "e3", "txn:", "txn:rides:", "api:", "ride", "person:p0", "sg", "00")
_OF_AN_AGENT: Final = ("/", "/approvals", "/tasks", "/campaigns", "/search?q=m", "/search?q=txn:", "/search?q=ride")


def requests_of(served: Iterable[Served], more: Sequence[str] = _MORE) -> list[Asked]:
    """Raises `LookupError` for a page about something that the house does not have."""
    pages = [each.path for each in served if each.method == "GET" and not each.is_stream]
    searches = [f"/search?q={text}" for text in (*_SEARCHED, str(UUID(int=0)))]
    return [
        *(Asked(path, _address(path)) for path in pages),
        *(Asked(path, _fixed(path)) for path in (*more, *searches)),
        *(Asked(f"{path} for one country", _fixed(path), AGENT) for path in _OF_AN_AGENT),
    ]


def _address(path: str) -> Callable[[int, int], str]:
    """Members and transfers are others each time."""
    named = path
    for part, text in _STANDS_FOR.items():
        if named == part or (part.endswith("}") and part in named):
            named = named.replace(part, text)

    def address(turn: int, accounts: int) -> str:
        number = (turn + 1) * _FAR % accounts
        return named.replace("{member:path}", member(number)).replace("{key:path}", house.ride_key(number))

    if "{" in address(0, 1):
        raise LookupError(f"{path}: the benchmark's house has nothing to show there")
    return address


def _fixed(path: str) -> Callable[[int, int], str]:
    return lambda _, __: path
