"""A house with a year behind it, for the pages of the console: a million accounts, five transfers of each, campaigns,
partners, approvals, tasks, the log, the quarantine, seals and months.

What pages read as a document is made by the doors; `console_house.sql` multiplies it, and writes the rest.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID, uuid4

from abacus.api.answer_examples import JOURNEY_DOCUMENT, OFFER_DOCUMENT, REWARD_DOCUMENT
from abacus.cli.examples import example_cards
from abacus.console.decide.reports import REPORTS, Report
from abacus.console.errands.command import ERRAND_TOKEN
from abacus.console.errands.store import ErrandStore
from abacus.console.errands.types import ErrandOutcome, Order, Room, State
from abacus.console.selections.store import SelectionStore
from abacus.core.clock import SystemClock
from abacus.documents.store import DocumentStore
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.types.limits import Limits
from abacus.platform.postgres import Connection, Pool, open_pool
from abacus.platform.settings import Settings
from abacus.pricing.store.cards import CardStore
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.decide.grid import slot_of
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.counters.store.postgres import PostgresCounterStore
from abacus.signals.counters.types import Count, Grain, Row, RowKey
from abacus.signals.events.decide.source import parse_source
from benchmarks.growth import INDEXES, WITHOUT_INDEXES
from benchmarks.offers_in_force import publish_rides, put_in_force
from benchmarks.ride_offers import SOURCE, TYPE, source_document

TASK: Final = UUID("00000000-0000-4000-8000-0000000000e1")
CARD_TRIAL: Final = UUID("00000000-0000-4000-8000-0000000000e2")
OFFER_TRIAL: Final = UUID("00000000-0000-4000-8000-0000000000e9")
CAMPAIGN_TRIAL: Final = UUID("00000000-0000-4000-8000-0000000000e3")
REWARD_TRIAL: Final = UUID("00000000-0000-4000-8000-0000000000eb")
JOURNEY_TRIAL: Final = UUID("00000000-0000-4000-8000-0000000000ea")
OF_CAMPAIGN: Final = UUID("00000000-0000-4000-8000-0000000000c1")  # these approvals, and the draft, stand in the script
OF_CARD: Final = UUID("00000000-0000-4000-8000-0000000000c2")
OF_MOVE: Final = UUID("00000000-0000-4000-8000-0000000000c3")
DRAFT: Final = UUID("00000000-0000-4000-8000-0000000000d1")
LINK: Final = UUID("00000000-0000-4000-8000-000000000007")
EXCHANGE: Final = UUID("00000000-0000-4000-8001-000000000007")
BREAK: Final = UUID("00000000-0000-4000-8002-000000000007")
SELECTION: Final = UUID("00000000-0000-4000-8000-0000000000f1")
TABLE: Final = "rows"
FILE: Final = "rows.csv"
COUNTER: Final = "rides_0"
COUNTED: Final = "rides_0:city:1"

_SCRIPT: Final = Path(__file__).with_suffix(".sql")
_BY: Final = "person:p001"
_IN_SEGMENTS: Final = 10_000
_CAMPAIGNS: Final = 300
_COUNTERS: Final = 40
_SELECTED: Final = 50
_ROWS: Final = 200  # of a report
_STATEMENT_S: Final = 1800
_DAYS: Final = 30
RESERVATION: Final = UUID("00c0e7f0-a3b8-8a44-8f2b-6b9f6d1f2a33")
_TREE: Final = """
insert into category_tree (country, version, document, published_at, published_by)
values ('SG', 1, $1::jsonb, now(), $2)
"""
_POLICY: Final = """
insert into contact_policy (country, version, document, published_at, published_by)
values ('SG', 1, $1::jsonb, now(), $2)
"""
_MAP: Final = """
insert into country_map (country, version, document, published_at, published_by)
values ('SG', 1, $1::jsonb, now(), $2)
"""
_HOLD: Final = """
insert into offer_reservation (key, member_id, reservation_id, offer, version, country, caller, fingerprint, items,
    currency, saves, points, cost, day, pots, reserved_at, until, status)
values ('reservation:shop:1:0', 'm0000001', $1, 'lunch_20', 1, 'SG', 'partner:acme', '-', '[]', 'SGD', 2400000, 0,
    2400000, current_date, 0, now(), now() + interval '10 minutes', 'held')
"""

# A journey that members enter by hand.
BY_HAND: Final[dict[str, Any]] = {**JOURNEY_DOCUMENT, "name": "by_hand", "entry": {"api": True}}


async def furnish(settings: Settings, accounts: int) -> None:
    """Fills a house that is migrated and empty."""
    owner = await open_pool(settings.required("database_url"), size=2, role=None)
    try:
        for card in example_cards():
            await CardStore(owner).publish(card, by=_BY, now=datetime.now(UTC))
        await publish_rides(settings, min(accounts, _IN_SEGMENTS))
        await put_in_force(settings, _CAMPAIGNS)
        await _count(owner)
        await _put_in_force(owner, "offer", OFFER_DOCUMENT)
        await _put_in_force(owner, "reward", REWARD_DOCUMENT)
        await _put_in_force(owner, "journey", JOURNEY_DOCUMENT)
        await _put_in_force(owner, "journey", BY_HAND)
        await owner.execute(_HOLD, RESERVATION)
        tree = json.dumps({"country": "SG", "categories": {"food": {"pizza": ["thin"], "noodles": []}}})
        await owner.execute(_TREE, tree, _BY)
        policy = json.dumps({"country": "SG", "timezone": "Asia/Singapore", "caps": {"sns": {"marketing": "3 a day"}}})
        await owner.execute(_POLICY, policy, _BY)
        await owner.execute(_MAP, json.dumps({"country": "SG", "timezone": "Asia/Singapore"}), _BY)
        await _enter_partner(owner)
        await _do_tasks(owner)
        async with owner.acquire() as connection:
            await _multiply(connection, accounts)
        items = [held_item(number) for number in range(1, _SELECTED + 1)]
        await SelectionStore(owner, SystemClock()).freeze(SELECTION, "ticked", items, "p001")
        await owner.execute("vacuum analyze", timeout=_STATEMENT_S)
    finally:
        await owner.close()


def held_item(number: int) -> str:
    """The id of an item of the quarantine, counted from 1."""
    return hashlib.md5(f"q{number}".encode(), usedforsecurity=False).hexdigest()


def ride_key(number: int) -> str:
    """The key of the first transfer of an account."""
    return f"txn:rides:{hashlib.md5(f'{number}-1'.encode(), usedforsecurity=False).hexdigest()}"


async def _multiply(connection: Connection, accounts: int) -> None:
    """Indexes are made after the rows, in a tenth of the time."""
    await connection.execute("select set_config('bench.accounts', $1, false)", str(accounts))
    first = [[each.format(1) for each in statements] for statements in (WITHOUT_INDEXES, INDEXES)]
    for statement in (*first[0], *_statements(), *first[1]):
        await connection.execute(statement, timeout=_STATEMENT_S)


def _statements() -> Iterator[str]:
    """An empty line stands between two of them."""
    for paragraph in _SCRIPT.read_text(encoding="utf-8").split(";\n"):
        if paragraph.strip():
            yield paragraph


async def _put_in_force(owner: Pool, table: str, document: Mapping[str, Any]) -> None:
    """Written as the store writes it."""
    await owner.execute(
        f"insert into {table} (name, version, country, starts_at, ends_at, document, status, drafted_at, drafted_by,"
        " changed_at, changed_by, approved_by, approved_at)"
        " select $1, 1, 'SG', now(), now() + interval '90 days', $2::jsonb, 'approved', now(), $3, now(), $3, $3,"
        " now()",
        document["name"],
        json.dumps(document),
        _BY,
    )


async def _count(owner: Pool) -> None:
    source = parse_source(source_document("rides"))
    drafts = [
        parse_definition(
            {
                "id": number + 1,
                "name": f"rides_{number}",
                "template": f"rides_{number}:city:{{city}}",
                "on": [TYPE],
                "keep": {"quarters": "1y", "hours": "1y", "days": "1y"},
            },
            {SOURCE: source},
        )
        for number in range(_COUNTERS)
    ]
    began = datetime.now(UTC) - timedelta(days=_DAYS)
    published = await DocumentStore(owner, COUNTERS).publish(drafts, held_sources(()), by=_BY, now=began)
    definition, quarter = published[0].document, int(began.timestamp()) // 900
    rows = [
        Row(RowKey(definition.stored_key(COUNTED), slot_of(Grain.QUARTER, at * 900), 1), Count(7, 1), 2**31 - 1)
        for at in range(quarter, quarter + _DAYS * 96)
    ]
    await PostgresCounterStore(owner, SystemClock()).save(rows)


async def _enter_partner(owner: Pool) -> None:
    clock = SystemClock()
    partner = Partner(
        partner_id="acme",
        name="Acme",
        fixed_points=True,
        computed_points=True,
        countries=("SG", "TH"),
        card_scope=None,
        requests_per_minute=1000,
        signing_secret=None,
        created_at=clock.now(),
        created_by=_BY,
        disabled_at=None,
    )
    await PartnerStore(owner, clock).create(partner, Limits(per_day=100_000), LIVE_KEY.new())
    await WebhookStore(owner, clock).set(
        "acme", "https://acme.example/abacus", "a secret of a benchmark, of some length"
    )


async def _do_tasks(owner: Pool) -> None:
    """Those that pages look for, each done."""
    store, runner = ErrandStore(owner, SystemClock(), Room(10_000, 10_000)), uuid4()
    for task, order, document in _tasks():
        await store.ask(task, order, "p001")
        taken = await store.take(runner, ERRAND_TOKEN.new())
        if taken is None:
            raise RuntimeError(f"{order.kind} waits for something")
        files = dict.fromkeys(order.keeps, b"name,points\r\n")
        output = json.dumps(document).encode()
        await store.end(taken.errand_id, runner, ErrandOutcome(State.DONE, 0, None, output, files))


def _tasks() -> Iterator[tuple[UUID, Order, Mapping[str, Any]]]:
    rows = [{"program": "GRP", "country": "SG", "name": f"SG@{each}", "points": each * 1000} for each in range(_ROWS)]
    listed = Order("rates", "SG", "SG", ("rates", "timeline", "SG", "--json"), keeps=(FILE,))
    yield TASK, listed, {"scope": "SG", TABLE: rows}
    yield (
        CARD_TRIAL,
        Order("rates-backtest", "SG 0", "SG", ("rates", "backtest", "card.toml", "--json")),
        {
            "card": "card.toml",
            "scope": "SG",
            "from": "2026-10-31T16:00:00+00:00",
            "until": "2026-11-30T16:00:00+00:00",
            "expiry_policy": {"now": "after 6 months", "draft": "after 6 months"},
            "without_cost": [],
            "rows": rows,
            "by_vertical": rows[:10],
            "total": rows[:1],
        },
    )
    yield (
        CAMPAIGN_TRIAL,
        Order("campaign-backtest", "armed 0", "SG", ("campaigns", "backtest", "x", "--json")),
        {
            "read": 1_234_567,
            "faulty": 0,
            "events": 40_000,
            "members": 7_000,
            "most_points_of_a_member": 500,
            "points": 1_500_000,
            "cost": 15.0,
            "liability": "13.50",
            "currency": "SGD",
            "days": [
                {"day": str(date(2026, 1, 1) + timedelta(days=day)), "variant": arm, "outcome": outcome, "events": 3}
                | {"points": 1500, "cost": 15.0}
                for day in range(90)
                for arm in ("a", "b", "control")
                for outcome in ("done", "counted")
            ],
        },
    )
    yield (
        OFFER_TRIAL,
        Order("offer-backtest", "lunch_20 0", "SG", ("offers", "backtest", "x", "--json")),
        {
            "purchases": 1_234_567,
            "given": 40_000,
            "members": 7_000,
            "money": "150000.00",
            "currency": "SGD",
            "points": 0,
            "liability": None,
            "liability_currency": None,
            "most_of_a_member": {"uses": 90, "money": "450.00", "points": 0},
            "does_not_fit": {"price": 1_194_567},
            "not_told": [],
            "everybody_invited": False,
            "days": [
                {"day": str(date(2026, 1, 1) + timedelta(days=day)), "outcome": outcome, "purchases": 444}
                | {"money": "1666.66", "points": 0}
                for day in range(90)
                for outcome in ("given", "uses.member_day")
            ],
        },
    )
    yield (
        REWARD_TRIAL,
        Order("reward-backtest", "coffee 0", "SG", ("rewards", "backtest", "x", "--json")),
        {
            "could_afford": 1_234_567,
            "first_could_afford": "2026-01-01",
            "for_others": 40_000,
            "members": 7_000,
            "without": 9_000,
            "pieces": 9_000,
            "most_of_a_member": 2,
            "gone_on": "2026-03-30",
            "points": 4_500_000,
            "liability": "36000.00",
            "liability_currency": "SGD",
            "assumed": ["limits begin unused"],
            "tiers": [],
            "days": [
                {"day": str(date(2026, 1, 1) + timedelta(days=day)), "tier": tier, "could": 444, "pieces": 50}
                | {"points": 25_000, "liability": "200.00"}
                for day in range(90)
                for tier in ("member", "silver", "gold")
            ],
        },
    )
    yield (
        JOURNEY_TRIAL,
        Order("journey-dry-run", "welcome 0", "SG", ("journeys", "dry-run", "x", "--json")),
        {
            "segment": "regulars",
            "members": 1_234_567,
            "looked_at": 10_000,
            "entered": 9_000,
            "against": [{"reason": "the rule of the entry does not hold", "members": 1000}],
            "unknown": 0,
            "ways": [
                {"node": f"node_{node}", "way": str(way), "to": f"node_{node + 1}", "members": 9_000 - node}
                for node in range(100)
                for way in range(2)
            ],
            "left": [{"reason": "through", "members": 8_900}],
        },
    )
    for report in REPORTS.values():
        yield uuid4(), Order(f"report-{report.name}", "", None, ("report", report.name)), {"rows": _reported(report)}
    verified = {"clean": True, "accounts": 1_000_000, "transfers": 5_000_000}
    yield uuid4(), Order("verify", "the ledger", None, ("ledger", "verify")), verified
    accounted = {"comes_out": True, "from": "2026-10-01T00:00:00+00:00", "to": "2026-11-01T00:00:00+00:00"}
    yield uuid4(), Order("reconcile", "the ledger", None, ("reconcile",)), accounted


def _reported(report: Report) -> Sequence[Mapping[str, Any]]:
    named = {"program": "GRP", "country": "SG", "currency": "SGD", "liability": "12.50"}
    along = {drawn.along: "2026-06" for drawn in report.charts}
    lines = [line for drawn in report.charts for line in drawn.lines]
    return [{**named, **along, "outstanding": each, **dict.fromkeys(lines, each)} for each in range(_ROWS)]
