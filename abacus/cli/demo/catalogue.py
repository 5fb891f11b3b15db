"""The offers and rewards of the demo, and what they are for. Documents without country and times. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

COUNTRY: Final = "SG"
POOL: Final = "demo_coffee"
CODES: Final = 400
INVITED: Final = "demo_guests"
LUNCH: Final = "demo_lunch"
POINTS: Final = "demo_points"
FRIENDS: Final = "demo_friends"
WORD: Final = "MAKAN-MAKAN"
COUPON: Final = "demo_coupon"
COFFEE: Final = "demo_coffee"
VOUCHER: Final = "demo_voucher"

KITCHEN: Final = "demo-kitchen"
RIVER: Final = "demo-river"
_OF_THE_KITCHEN: Final[Mapping[str, Any]] = {
    "scope": {"merchants": [KITCHEN]},
    "audience": "public",
    "paid_by": {"cost_centre": "marketing"},
}
OFFERS: Final[Sequence[Mapping[str, Any]]] = (
    {
        **_OF_THE_KITCHEN,
        "name": LUNCH,
        "about": "A fifth off, at most 5",
        "benefit": {"percent": "20", "cap": "5"},
        "limits": {"uses": {"overall": 20_000, "member_day": 3}, "money": {"overall": "40000.00"}},
        "stack": "group:dishes",
    },
    {
        **_OF_THE_KITCHEN,
        "name": "demo_drink",
        "about": "A drink less",
        "benefit": {"amount_off": "1.50"},
        "limits": {"uses": {"overall": 30}},
        "stack": "always",
    },
    {
        **_OF_THE_KITCHEN,
        "name": "demo_big_table",
        "about": "Dishes from 30 on: 10 off",
        "benefit": {"amount_off": "10"},
        "price": {"from": "30"},
        "limits": {"uses": {"overall": 500}},
    },
    {
        **_OF_THE_KITCHEN,
        "name": INVITED,
        "about": "Half the price for invited guests",
        "benefit": {"percent": "50", "cap": "8"},
        "audience": "invitation",
        "limits": {"uses": {"member": 20}},
    },
    {
        **_OF_THE_KITCHEN,
        "name": POINTS,
        "about": "Fifty points besides",
        "benefit": {"points_plus": 50},
        "limits": {"uses": {"overall": 20_000}},
    },
    {
        **_OF_THE_KITCHEN,
        "name": FRIENDS,
        "about": "2 off for those who know the word",
        "benefit": {"amount_off": "2"},
        "audience": "code",
        "code": WORD,
        "limits": {"uses": {"overall": 20_000}},
    },
)
OF_THE_RIVER: Final[Mapping[str, Any]] = {
    "name": "demo_by_the_river",
    "about": "Thirty percent off by the river, at most 10",
    "scope": {"merchants": [KITCHEN], "regions": [RIVER]},
    "audience": "public",
    "paid_by": {"cost_centre": "marketing"},
    "benefit": {"percent": "30", "cap": "10"},
    "limits": {"uses": {"overall": 500}},
}
OF_COUPONS: Final[Mapping[str, Any]] = {
    **_OF_THE_KITCHEN,
    "name": COUPON,
    "about": "3 off for each coupon",
    "benefit": {"amount_off": "3"},
    "audience": "code",
    "codes": "pool",
    "limits": {"unlimited": True},
}
FULFILLER: Final[Mapping[str, Any]] = {
    "name": "demo_vouchers",
    "kind": "webhook",
    "url": "https://vouchers.invalid/redemptions",  # nobody answers there
}
REWARDS: Final[Sequence[Mapping[str, Any]]] = (
    {
        "name": COFFEE,
        "about": "A coffee at any counter",
        "texts": {"en": {"title": "A coffee", "terms": "At any of our counters."}},
        "price": {"points": 100, "tiers": {"gold": 80}},
        "delivery": {"pool": POOL, "low": 50},
        "limits": {"uses": {"overall": CODES, "member": 20}},
    },
    {
        "name": "demo_dinner",
        "about": "A dinner for two",
        "texts": {"en": {"title": "A dinner for two"}},
        "price": {"points": 5_000},
        "delivery": {"pool": POOL},
        "when": {"operator": "in", "lhs": "member.tier", "rhs": ["gold", "platinum"]},
        "limits": {"uses": {"overall": 20}},
    },
    {
        "name": VOUCHER,
        "about": "A voucher that another house sends",
        "texts": {"en": {"title": "A voucher"}},
        "price": {"points": 40},
        "delivery": {"webhook": FULFILLER["name"], "late_after": "1s"},
        "limits": {"uses": {"overall": 20_000}},
    },
)


def of_the_demo(documents: Sequence[Mapping[str, Any]], now: datetime, days: int) -> list[Mapping[str, Any]]:
    """In the demo's country, for this number of days."""
    times = {"starts_at": now.isoformat(), "ends_at": (now + timedelta(days=days)).isoformat()}
    return [{**each, **times, "country": COUNTRY, "timezone": "Asia/Singapore"} for each in documents]


def codes() -> Iterator[str]:
    return (f"KOPI-{number:04}" for number in range(1, CODES + 1))


def dish(price: str, quantity: int = 1) -> dict[str, Any]:
    """A line of a basket."""
    return {
        "id": "1",
        "product": "laksa",
        "merchant": KITCHEN,
        "brand": "demo",
        "categories": ["food"],
        "price": price,
        "currency": "SGD",
        "quantity": quantity,
        "var": {"vertical": "food", "payment_type": "wallet"},
    }
