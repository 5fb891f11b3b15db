"""The forms of the house's kinds agree with their readers: what the one knows, the other knows too."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import pytest
from jsonschema import Draft202012Validator

from abacus.cli.examples import example_cards
from abacus.core.document_text import read_toml
from abacus.core.fields import DocumentFaults, Fault
from abacus.documents.form.edit import Edit
from abacus.documents.form.example import example
from abacus.documents.form.faults import placed
from abacus.documents.form.path import Path, as_faults_have_it
from abacus.documents.form.schema import schema
from abacus.documents.form.types import Fixed, Form, held
from abacus.documents.form.view import view
from abacus.documents.kind import DocumentKind
from abacus.engage.campaigns.kind import CAMPAIGNS
from abacus.engage.categories.kind import CATEGORIES
from abacus.engage.downstreams.kind import DOWNSTREAMS, Allowed
from abacus.engage.journeys.kind import JOURNEYS
from abacus.engage.notify.kind import CONTACT_POLICIES
from abacus.engage.offers.decide.publications import OfferPublications
from abacus.engage.offers.kind import OFFERS
from abacus.engage.rewards.kind import REWARDS
from abacus.exchanges.kind import PROGRAMMES
from abacus.oversight.closing.decide.accounts_form import Known
from abacus.oversight.closing.decide.journal_accounts import KINDS
from abacus.oversight.closing.kind import JOURNAL_ACCOUNTS
from abacus.pricing.decide.card import to_document
from abacus.pricing.decide.countries import Countries
from abacus.pricing.kind import CARDS
from abacus.signals.counters.decide.publications import CounterPublications
from abacus.signals.counters.kind import COUNTERS
from abacus.signals.events.kind import SOURCES as SOURCE_KIND
from abacus.signals.events.kind import Reserved
from abacus.signals.places.kind import MAPS
from tests.engage.campaigns.offers import AROUND, SOURCES
from tests.engage.journeys.examples import AROUND as TRAVELS
from tests.engage.journeys.written import BY_CALL, EXPIRING, FULL, OF_SEGMENT
from tests.support.exchanges import around as exchanging
from tests.support.rewards import COFFEE, around

_RULE: Final = {"operator": "not", "conditions": [{"operator": "in", "lhs": "var.vertical", "rhs": ["food"]}]}
_CAMPAIGN: Final[Mapping[str, Any]] = {
    "name": "market",
    "about": "All that a campaign can say",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-03-01T00:00:00+08:00",
    "ends_at": "2026-04-01T00:00:30+08:00",
    "weekdays": ["mon", "sun"],
    "hours": ["06:00-10:00", "17:00-24:00"],
    "on": ["transactions/transaction.completed"],
    "when": {
        "operator": "and",
        "conditions": [_RULE, {"operator": "between", "lhs": "var.amount", "rhs": ["1", "20"]}],
    },
    "over": "7d",
    "steps": [
        {"at": 2, "variant": "a", "do": [{"tell": {"en": "Hi\n\nYou\nthere", "id": "Hai\nKamu"}, "after": "2h"}]},
        {"every": 3, "do": [{"award": {"multiple": "1.5"}, "at": "17:00", "unless": _RULE, "if_still": _RULE}]},
        {"do": [{"award": {"formula": {"eppf": "1", "tier": "2"}}}, {"call": "crm"}]},
        {"do": [{"grant": {"offer": "lunch_invited"}}, {"grant": {"reward": "coffee"}, "after": "1h"}]},
    ],
    "limits": {
        "runs": {"overall": 10, "day": 5, "member": 2, "member_day": 1},
        "points": {"overall": 1000},
        "budget": {"overall": "50.00", "cost_of_point": "0.01", "program": "GRP", "currency": "SGD"},
    },
    "split": {"a": 50, "control": 50},
    "goal": 3,
    "priority": 7,
    "exclusive": "orders",
    "respects_holdout": True,
}

_COUNTER: Final[Mapping[str, Any]] = {
    "id": 34,
    "name": "spent",
    "template": "spent:{country}:{vertical}",
    "on": ["transactions/transaction.completed"],
    "when": _RULE,
    "add": "var.amount",
    "decimals": 3,
    "timezone": "Asia/Kathmandu",
    "keep": {"quarters": "36h", "hours": "0", "days": "10y"},
    "new_keys_per_day": 5000,
}

_SOURCE: Final[Mapping[str, Any]] = {
    "source": "weather",
    "topic": "weather.observations",
    "senders": ["acme", "beta"],
    "substream": True,
    "fields": {
        "type": {"always": "rain.drop"},
        "id": ["/station", "/number"],
        "ids": {"rain.drop": "/id"},
        "member": "/who/id",
        "country": "/country",
        "time": {"pointer": "/at", "format": "epoch-s"},
    },
    "types": {"rain.drop": {"city_id": {"pointer": "/city/id", "type": "text"}, "amount": "decimal"}},
}

_PLACED: Final[Mapping[str, Any]] = {  # no sub-stream may have coordinates
    **{name: value for name, value in _SOURCE.items() if name != "substream"},
    "fields": {**_SOURCE["fields"], "lat": "/pos/lat", "lon": "/pos/lon"},
}

_DOWNSTREAM: Final[Mapping[str, Any]] = {
    "name": "risk",
    "kind": "external",
    "url": "https://risk.example.com/score",
    "type": "integer",
    "timeout": "800ms",
    "at_once": 100,
    "otherwise": "wait",
    "pace": "50/s@8-22, 20/s",
    "zone": "Asia/Singapore",
}
_OWN: Final[Mapping[str, Any]] = {"name": "awards", "kind": "own", "pace": "500/s"}

_OFFER: Final[Mapping[str, Any]] = {
    **{name: _CAMPAIGN[name] for name in ("name", "about", "country", "timezone", "starts_at", "ends_at")},
    "weekdays": ["mon", "sun"],
    "hours": ["11:00-14:00"],
    "currency": "SGD",
    "audience": "code",
    "code": "LUNCH-20",
    "benefit": {"percent": "12.5", "cap": "5.00"},
    "scope": {
        "products": ["A-1"],
        "merchants": ["m1"],
        "brands": ["b"],
        "categories": ["food"],
        "except": {"products": ["A-2"], "merchants": ["m2"], "brands": ["c"], "categories": ["wine"]},
    },
    "price": {"from": "4.50", "below": "9"},
    "quantity": {"from": 2, "below": 6},
    "basket_minimum": "20",
    "when": {
        "operator": "and",
        "conditions": [_RULE, {"operator": "between", "lhs": "var.weight", "rhs": ["1.5", "20"]}],
    },
    "limits": {"uses": {"overall": 10, "day": 5, "member": 2, "member_day": 1}, "money": {"overall": "50.00"}},
    "stack": "group:lunch",
    "priority": 7,
    "paid_by": {"partner": "acme"},
}
_POINTS: Final[Mapping[str, Any]] = {
    **{name: value for name, value in _OFFER.items() if name not in {"code", "limits"}},
    "audience": "invitation",
    "benefit": {"points_plus": 50, "cap": 500},
    "scope": {"everything": True},
    "limits": {"unlimited": True},
    "stack": "always",
    "paid_by": {"cost_centre": "marketing"},
}

_MAP: Final[Mapping[str, Any]] = {
    "country": "SG",
    "timezone": "Asia/Singapore",
    "kinds": {"sales_region": 10, "city": 20},
    "second_person_above": 5,
    "typical_purchase": "25.00",
    "holidays": ["2026-08-09", "2026-12-25"],
    "positions": {"leave_after_m": 50, "once_in_minutes": 60},
}
_CATEGORIES: Final[Mapping[str, Any]] = {
    "country": "SG",
    "categories": {"food": {"pizza": ["deep", "thin"], "noodles": ["soup"]}, "rides": {"taxi": ["xl"]}},
}

_CONTACT: Final[Mapping[str, Any]] = {
    "country": "SG",
    "timezone": "Asia/Singapore",
    "quiet_hours": "21:00-08:00",
    "caps": {"sns": {"marketing": "3 a day, 10 a week", "earned": "5 a day"}, "webhook": {"marketing": "4 a week"}},
    "patience_days": 2,
    "holdout": 5,
}

_ACCOUNTS: Final[Mapping[str, Any]] = {
    "program": "GRP",
    "country": "SG",
    **{kind: {"debit": f"6100 {kind}", "credit": "2400 Liability"} for kind in KINDS},
}


_CARD: Final = to_document(next(each for each in example_cards() if each.tier_policy is not None))


_FULFILLED: Final = {"webhook": "vouchers", "partner": "voucher_house", "late_after": "2h"}
_PROGRAMME: Final[Mapping[str, Any]] = {
    "name": "skymiles",
    "about": "All that a programme can say",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": "2026-03-01T00:00:00+08:00",
    "ends_at": "2036-04-01T00:00:30+08:00",
    "partner": "skyline",
    "program": "GRP",
    "unit": "miles",
    "quote_for": "15m",
    "late_after": "1d",
    "cancel_after": "3d",
    "cooling_off": "7d",
    "reverses_for": "30d",
    "review_above": 50_000,
    "out": {
        "give": 5,
        "get": 2,
        "minimum": 1000,
        "multiple": 500,
        "maximum": 100_000,
        "price": "0.012",
        "fee": 50,
        "caps": {"member_day": 5000, "member_month": 20_000, "day": 1_000_000, "ever": 100_000_000},
    },
    "in": {"give": 2, "get": 3, "minimum": 1000, "multiple": 100, "maximum": 50_000, "price": "0.004"},
    "when": {"operator": "and", "conditions": [{"operator": "eq", "lhs": "exchange.country", "rhs": "SG"}]},
    "carrier": {"url": "https://loyalty.skyline.example/abacus", "remembers_refusals": False},
    "money": {"currency": "SGD", "tax_code": "ZR", "alert_below": "20000"},
}
_BY_FILES: Final[Mapping[str, Any]] = {
    **_PROGRAMME,
    "carrier": {"place": "s3://skyline-files/abacus", "cut_off": "18:30"},
    "money": {"currency": "SGD", "tax_code": "ZR", "credit_limit": "50000"},
}
_REWARD: Final[Mapping[str, Any]] = {
    **COFFEE,
    "about": "For loyal members",
    "weekdays": ["mon"],
    "hours": ["08:00-11:00"],
    "picture": "https://example.com/coffee.png",
    "texts": {"en": {"title": "A coffee", "description": "Hot.", "terms": "Once."}},
    "price": {
        "points": 500,
        "tiers": {"gold": 400},
        "segments": {"regulars": 450},
        "money": {"least_points": 200, "point_pays": "0.01"},
    },
    "delivery": {"pool": "coffee_codes", "low": 5},
    "when": {"operator": "in", "lhs": "member.tier", "rhs": ["gold", "platinum"]},
    "limits": {"uses": {"overall": 100, "day": 10, "member": 2, "member_day": 1}},
    "paid_by": {"partner": "cinema"},
}


class Row(NamedTuple):
    """A kind, what its documents are judged by, and a document with all its fields."""

    kind: DocumentKind[Any, Any]
    around: Any
    document: Mapping[str, Any]

    @property
    def form(self) -> Form:
        assert self.kind.form is not None
        return self.kind.form

    async def faults(self, document: Mapping[str, Any]) -> tuple[Fault, ...]:
        try:
            await self.kind.read(document, self.around)
        except DocumentFaults as error:
            return error.faults
        return ()


ROWS: Final = {
    "campaigns": Row(CAMPAIGNS, AROUND, _CAMPAIGN),
    "offers": Row(OFFERS, OfferPublications(AROUND.now, AROUND.cards), _OFFER),
    "offers of points": Row(OFFERS, OfferPublications(AROUND.now, AROUND.cards), _POINTS),
    "categories": Row(CATEGORIES, Countries({"SG"}), _CATEGORIES),
    "contact": Row(CONTACT_POLICIES, Countries({"SG"}), _CONTACT),
    "places": Row(MAPS, Countries({"SG"}), _MAP),
    "rewards": Row(REWARDS, around(), _REWARD),
    "fulfilled rewards": Row(REWARDS, around(), {**_REWARD, "delivery": _FULFILLED}),
    "rewards by invitation": Row(REWARDS, around(), {**_REWARD, "delivery": {"offer": "lunch_invited"}}),
    "rewards as points": Row(REWARDS, around(), {**_REWARD, "delivery": {"program": "OVO", "points": 200}}),
    "journeys": Row(JOURNEYS, TRAVELS, FULL),
    "journeys by a call": Row(JOURNEYS, TRAVELS, BY_CALL),
    "journeys of a segment": Row(JOURNEYS, TRAVELS, OF_SEGMENT),
    "journeys of expiring points": Row(JOURNEYS, TRAVELS, EXPIRING),
    "exchanges": Row(PROGRAMMES, exchanging(), _PROGRAMME),
    "exchanges by files": Row(PROGRAMMES, exchanging(), _BY_FILES),
    "counters": Row(COUNTERS, CounterPublications(SOURCES), _COUNTER),
    "downstreams": Row(DOWNSTREAMS, Allowed(to_private=False), _DOWNSTREAM),
    "own downstreams": Row(DOWNSTREAMS, Allowed(to_private=False), _OWN),
    "events": Row(SOURCE_KIND, Reserved((), "abacus.events.v1"), _SOURCE),
    "events with places": Row(SOURCE_KIND, Reserved((), "abacus.events.v1"), _PLACED),
    "accounts": Row(JOURNAL_ACCOUNTS, Known(["GRP"], ["SG"]), _ACCOUNTS),
    "rates": Row(CARDS, None, {**_CARD, "vests_after_days": 14, "point_value": {"money": "0.01", "step": "0.05"}}),
}
each_kind: Final = pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from leaves(each, (*path, name))
    elif isinstance(value, list) and value and isinstance(value[0], Mapping):
        for place, each in enumerate(value):
            yield from leaves(each, (*path, place))
    else:
        yield path


@each_kind
async def test_the_example_and_a_document_with_everything_are_read_without_a_fault(row: Row) -> None:
    assert await row.faults(example(row.form)) == ()
    assert await row.faults(row.document) == ()


@each_kind
async def test_the_reader_knows_every_field_that_is_declared(row: Row) -> None:
    fields = held(row.form.fields, row.document)
    wrong: dict[str, Any] = {each.name: {"?": "?"} for each in fields if not isinstance(each.sort, Fixed)}
    fixed = {each.name: each.sort.value for each in fields if isinstance(each.sort, Fixed)}
    assert [
        each for each in await row.faults(wrong | fixed) if each.path in wrong and each.message.startswith("unknown")
    ] == []


@each_kind
def test_the_form_has_a_place_for_all_that_a_document_says(row: Row) -> None:
    shown = view(row.form, row.document, row.kind.choices(row.document, row.around))
    faults = [Fault(as_faults_have_it(path), "wrong") for path in leaves(row.document)]
    found = placed(faults, shown, row.document)
    assert found.elsewhere == []
    at_their_own = sum(1 for messages in found.at.values() for each in messages if each == "wrong")
    assert at_their_own > len(found.at) / 2
    assert set(row.document) <= set(schema(row.form)["properties"])


@each_kind
def test_what_is_shown_comes_back_as_it_was(row: Row) -> None:
    text = row.kind.write(row.document)
    document = read_toml(text)
    choices = row.kind.choices(document, row.around)
    sent = {each.name: each.value for each in view(row.form, document, choices).controls()}
    assert Edit(row.form, document, choices).steps(sent) == []


@each_kind
async def test_the_schema_holds_for_its_documents_and_for_no_other(row: Row) -> None:
    drawn = schema(row.form)
    Draft202012Validator.check_schema(drawn)
    judge = Draft202012Validator(drawn)
    for document in (example(row.form), dict(row.document)):
        assert [each.message for each in judge.iter_errors(document)] == []
        assert not judge.is_valid({**document, "colour": "red"})
    assert not judge.is_valid({})
