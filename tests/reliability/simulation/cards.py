"""The rate cards of the simulated world, as documents: the product reads them, and so does the oracle, each its way."""

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from abacus.ledger.types.account import AccountId
from abacus.pricing.decide.card import PublishedCard, parse_card

_TIERS: Final = {"member": "1", "silver": "1.5", "gold": "2.25", "platinum": "3"}

_SG: Final[Mapping[str, Any]] = {
    "scope": "SG",
    "program": "GRP",
    "currency": "SGD",
    "timezone": "Asia/Singapore",
    "effective_from": "2026-01-01T00:00:00+08:00",
    "eppf": "1",
    "rounding": "floor",
    "expiry_months": 6,
    "verticals": {"food": "2", "rides": "1"},
    "payment_types": {"wallet": "2", "cash": "1"},
    "tiers": _TIERS,
    "fixed_awards": {"booking.cancelled_by_driver": 100},
}
_ID: Final[Mapping[str, Any]] = {
    **_SG,
    "scope": "ID",
    "program": "OVO",
    "currency": "IDR",
    "timezone": "Asia/Jakarta",
    "eppf": "0.00005",
    "rounding": "half_up",
    "expiry_months": 3,
    "fixed_awards": {},
}
_TH: Final[Mapping[str, Any]] = {
    **_SG,
    "scope": "TH",
    "currency": "THB",
    "timezone": "Asia/Bangkok",
    "eppf": "0.1",
    "rounding": "ceil",
    "verticals": {"food": "1.175", "rides": "0.9"},
    "payment_types": {"wallet": "1.333", "cash": "0.25"},
}
# In May Singapore's rates change, and so do its members' points for a booking that the driver cancels.
_SG_IN_MAY: Final[Mapping[str, Any]] = {
    **_SG,
    "effective_from": "2026-05-01T00:00:00+08:00",
    "rounding": "half_up",
    "verticals": {"food": "3", "rides": "1.25"},
    "fixed_awards": {"booking.cancelled_by_driver": 150, "survey.answered": 7},
}

# Each scope's documents by version, the first being version 1.
DOCUMENTS: Final[Mapping[str, list[Mapping[str, Any]]]] = {"SG": [_SG, _SG_IN_MAY], "ID": [_ID], "TH": [_TH]}

# The tier of each listed member; where there are two, the second is a promotion while the simulation runs.
TIERS: Final[Mapping[AccountId, tuple[str, ...]]] = {
    ("bob", "GRP"): ("platinum",),
    ("jane", "OVO"): ("gold",),
    ("jane", "GRP"): ("silver",),
    ("mel", "GRP"): ("silver", "gold"),
    ("zoe", "GRP"): ("diamond",),  # a tier that no card prices
}


@cache
def published_cards() -> tuple[PublishedCard, ...]:
    return tuple(
        PublishedCard(parse_card(document), version)
        for documents in DOCUMENTS.values()
        for version, document in enumerate(documents, start=1)
    )
