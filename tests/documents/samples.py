"""A document of each kind, as the contract of documents needs it."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from abacus.cli.examples import example_cards
from abacus.pricing.decide.card import to_document as card_document

_SOON: Final = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)

Documents = Mapping[str, Any]


class Sample(NamedTuple):
    """A document of a kind, the same with a change and the line that says so, and with a fault and its path. `named`
    gives it another name.
    """

    command: str
    name: str
    document: Documents
    changed: Documents
    change: str
    bad: Documents
    path: str
    another: Callable[[Documents], Documents]
    needs: tuple[str, ...] = ()  # commands whose samples are published first
    asks: bool = False  # whether a second person approves each version
    partner: str | None = None  # that has to be there
    many: bool = False  # whether several drafts of one may be published at once


_SOURCE: Final[Documents] = {
    "source": "weather",
    "topic": "weather.observations",
    "fields": {"type": "/type", "id": "/id", "time": "/at"},
    "types": {"rain.drop": {"city_id": "text"}},
}
_COUNTER: Final[Documents] = {
    "id": 34,
    "name": "rain",
    "template": "rain:city:{city_id}",
    "on": ["rain.drop"],
}
_DOWNSTREAM: Final[Documents] = {"name": "coupons", "kind": "webhook", "url": "https://example.com/coupons"}
_CAMPAIGN: Final[Documents] = {
    "name": "market",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": _SOON.isoformat(),
    "on": ["transaction.completed"],
    "steps": [{"at": 3, "do": [{"award": {"points": 500}}]}],
    "limits": {"runs": {"overall": 1000}},
}
_OFFER: Final[Documents] = {
    "name": "lunch_20",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": _SOON.isoformat(),
    "audience": "public",
    "benefit": {"percent": "20", "cap": "5"},
    "scope": {"categories": ["pizza"]},
    "limits": {"uses": {"overall": 1000}},
    "paid_by": {"cost_centre": "marketing"},
}
_REWARD: Final[Documents] = {
    "name": "coffee",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": _SOON.isoformat(),
    "texts": {"en": {"title": "A coffee"}},
    "price": {"points": 500},
    "delivery": {"webhook": "coupons"},
    "limits": {"uses": {"overall": 1000}},
}
_JOURNEY: Final[Documents] = {
    "name": "welcome",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": _SOON.isoformat(),
    "entry": {"on": ["transaction.completed"]},
    "begin": "pause",
    "nodes": {
        "pause": {"wait": {"for": "2d"}, "next": "thanks"},
        "thanks": {"do": {"award": {"points": 50}}, "next": "through"},
        "through": {"exit": "through"},
    },
}
_PROGRAMME: Final[Documents] = {
    "name": "skymiles",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-01-01T00:00:00+08:00",
    "ends_at": _SOON.isoformat(),
    "partner": "skyline",
    "program": "GRP",
    "unit": "miles",
    "out": {"give": 5, "get": 2, "minimum": 1000, "multiple": 500, "maximum": 100_000, "price": "0.012"},
    "carrier": {"url": "https://loyalty.example.com/abacus"},
    "money": {"currency": "SGD", "tax_code": "ZR", "alert_below": "20000"},
}
_CARD: Final[Documents] = next(card_document(card) for card in example_cards() if card.scope == "SG")

CARDS: Final = Sample(
    command="rates",
    name="SG",
    document=_CARD,
    changed={**_CARD, "expiry_months": 7},
    change="expiry_months: ",
    bad={**_CARD, "eppf": "much"},
    path="eppf",
    another=lambda document: {**document, "scope": "partner:acme"},
    many=True,
)
SOURCES: Final = Sample(
    command="events",
    name="weather",
    document=_SOURCE,
    changed={**_SOURCE, "senders": ["acme"]},
    change="senders.acme: added, may post events",
    bad={**_SOURCE, "topic": "a b"},
    path="topic",
    another=lambda document: {**document, "source": "sky", "topic": "sky"},
)
COUNTERS: Final = Sample(
    command="counters",
    name="rain",
    document=_COUNTER,
    changed={**_COUNTER, "timezone": "Asia/Kathmandu"},
    change="timezone: UTC → Asia/Kathmandu",
    bad={**_COUNTER, "template": "rain:{city}"},
    path="template",
    another=lambda document: {**document, "id": 35, "name": "snow", "template": "snow:{city_id}"},
    needs=("events",),
)
DOWNSTREAMS: Final = Sample(
    command="downstreams",
    name="coupons",
    document=_DOWNSTREAM,
    changed={**_DOWNSTREAM, "pace": "5/s"},
    change="pace: nothing → 5/s",
    bad={**_DOWNSTREAM, "url": "ftp://example.com"},
    path="url",
    another=lambda document: {**document, "name": "others"},
)
CAMPAIGNS: Final = Sample(
    command="campaigns",
    name="market",
    document=_CAMPAIGN,
    changed={**_CAMPAIGN, "limits": {"runs": {"overall": 5}}},
    change='limits.runs: {"overall": 1000} → {"overall": 5}',
    bad={**_CAMPAIGN, "limits": {}},
    path="limits.runs",
    another=lambda document: {**document, "name": "fair"},
    needs=("rates",),
    asks=True,
)
CATEGORIES: Final = Sample(
    command="categories",
    name="SG",
    document={"country": "SG", "categories": {"food": {"pizza": ["thin"]}}},
    changed={"country": "SG", "categories": {"food": {"pizza": ["thin", "deep"]}}},
    change="categories.food.pizza: thin → thin, deep",
    bad={"country": "SG", "categories": {"food": {"food": []}}},
    path="categories.food.food",
    another=lambda document: {**document, "country": "ID"},
)
CONTACT: Final = Sample(
    command="contact",
    name="SG",
    document={"country": "SG", "timezone": "Asia/Singapore", "caps": {"sns": {"marketing": "3 a day"}}},
    changed={"country": "SG", "timezone": "Asia/Singapore", "caps": {"sns": {"marketing": "2 a day"}}},
    change="caps.sns.marketing: 3 a day → 2 a day",
    bad={"country": "SG", "timezone": "Asia/Singapore", "caps": {"sns": {"marketing": "often"}}},
    path="caps.sns.marketing",
    another=lambda document: {**document, "country": "ID"},
    asks=True,
)
MAPS: Final = Sample(
    command="places",
    name="SG",
    document={"country": "SG", "timezone": "Asia/Singapore", "kinds": {"city": 20}},
    changed={"country": "SG", "timezone": "Asia/Singapore", "kinds": {"city": 30}},
    change="kinds.city: priority 20 → priority 30",
    bad={"country": "SG", "timezone": "Asia/Singapore", "kinds": {"city": -1}},
    path="kinds.city",
    another=lambda document: {**document, "country": "ID"},
)
OFFERS: Final = Sample(
    command="offers",
    name="lunch_20",
    document=_OFFER,
    changed={**_OFFER, "limits": {"uses": {"overall": 5}}},
    change='limits.uses: {"overall": 1000} → {"overall": 5}',
    bad={**_OFFER, "benefit": {"percent": "120"}},
    path="benefit.percent",
    another=lambda document: {**document, "name": "dinner"},
    needs=("rates", "categories"),
    asks=True,
)
REWARDS: Final = Sample(
    command="rewards",
    name="coffee",
    document=_REWARD,
    changed={**_REWARD, "limits": {"uses": {"overall": 5}}},
    change='limits.uses: {"overall": 1000} → {"overall": 5}',
    bad={**_REWARD, "limits": {}},
    path="limits.uses",
    another=lambda document: {**document, "name": "tea"},
    needs=("rates", "downstreams"),
    asks=True,
)
JOURNEYS: Final = Sample(
    command="journeys",
    name="welcome",
    document=_JOURNEY,
    changed={**_JOURNEY, "nodes": {**_JOURNEY["nodes"], "pause": {"wait": {"for": "3d"}, "next": "thanks"}}},
    change='nodes.pause: {"wait": {"for": "2d"}, "next": "thanks"} → {"wait": {"for": "3d"}, "next": "thanks"}',
    bad={**_JOURNEY, "begin": "nowhere"},
    path="begin",
    another=lambda document: {**document, "name": "farewell"},
    needs=("rates",),
    asks=True,
)
EXCHANGES: Final = Sample(
    command="exchanges",
    name="skymiles",
    document=_PROGRAMME,
    changed={**_PROGRAMME, "out": {**_PROGRAMME["out"], "maximum": 50_000}},
    change="out.maximum: 100000 → 50000",
    bad={**_PROGRAMME, "partner": "nobody"},
    path="partner",
    another=lambda document: {**document, "name": "bankpoints"},
    needs=("rates",),
    partner="skyline",
    asks=True,
)
ACCOUNTS: Final = Sample(
    command="accounts",
    name="GRP.SG",
    document={"program": "GRP", "country": "SG", "issued": {"debit": "6100", "credit": "2400"}},
    changed={"program": "GRP", "country": "SG", "issued": {"debit": "6200", "credit": "2400"}},
    change="issued.debit: 6100 → 6200",
    bad={"program": "GRP", "country": "SG", "issued": {"debit": "2400", "credit": "2400"}},
    path="issued.credit",
    another=lambda document: {**document, "country": "all"},
)
SAMPLES: Final = {
    each.command: each
    for each in (
        CARDS,
        SOURCES,
        COUNTERS,
        DOWNSTREAMS,
        CATEGORIES,
        CONTACT,
        MAPS,
        OFFERS,
        CAMPAIGNS,
        REWARDS,
        JOURNEYS,
        EXCHANGES,
        ACCOUNTS,
    )
}
