"""One offer that everybody wants, taken over HTTP: one process, limits in uses and in money, each time another member.

The process answers, Postgres writes, and the callers are beside them on the machine.
"""

from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any, Final

from abacus.cli.house.stack import make_ready
from abacus.documents.stated import Change
from abacus.engage.offers.decide.offer_reader import parse_offer
from abacus.engage.offers.offer_store import OfferStore
from abacus.engage.offers.publications import offer_publications
from abacus.oversight.reconcile.offers import compared_offers
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import Pool, open_pool
from abacus.platform.settings import Settings
from benchmarks.api import Load, request
from benchmarks.callers import entered_partner
from benchmarks.offer_examples import COUNTRY, CURRENCY
from benchmarks.offer_process import offer_process
from benchmarks.own_core import Served
from benchmarks.paced import paced
from benchmarks.report import Figure, rate

CALLERS: Final = 64
SECONDS: Final = 10.0
WANTED: Final = 2_000
_PACED: Final = 0.7  # of what is reserved by as many callers as there are
_NAME: Final = "everybody"
_ITEM: Final[Mapping[str, Any]] = {
    "id": "1",
    "product": "laksa",
    "merchant": "m-17",
    "brand": "hawker",
    "categories": ["food", "noodles"],
    "price": "12.00",
    "currency": CURRENCY,
}


async def measure(directory: Path, seconds: float = SECONDS) -> list[Figure]:
    async with AsyncExitStack() as stack:
        embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka=False))
        settings = Settings(database_url=embedded.database_url, sqs_endpoint_url=embedded.sqs_endpoint_url)
        await make_ready(settings)
        pool = await open_pool(settings.required("database_url"), size=1, role=None)
        stack.push_async_callback(pool.close)
        key = await entered_partner(pool, may_use_offers=True)
        await _put_in_force(pool)
        reserving = await stack.enter_async_context(offer_process(settings))
        asked = _reservations(key)
        warm = await reserving.serve(asked, CALLERS, seconds / 2)
        hot = await reserving.serve(asked, CALLERS, seconds)
        steady = await paced(reserving.port, asked, _PACED * hot.load.per_s, seconds)
        answered = sum(len(each.latencies_s) for each in (warm.load, hot.load, steady))
        return _figures(hot, steady, answered, await _wrong(pool, answered))


def _figures(hot: Served, steady: Load, answered: int, wrong: list[str]) -> list[Figure]:
    return [
        Figure(
            f"reservations of one hot offer over HTTP, {CALLERS} callers, one process",
            f"{rate(hot.load.per_s, 'reservations')}, p99 {hot.load.p99_ms:.0f} ms",
            f"{hot.cpu_us:.0f} µs of CPU each, {rate(hot.per_core, 'reservations')} a core",
            f">= {WANTED:,}/s",
            hot.load.per_s >= WANTED,
        ),
        Figure(f"… at {_PACED:.0%} of that", f"{rate(steady.per_s, 'reservations')}, p99 {steady.p99_ms:.1f} ms"),
        Figure(
            "… each held once, in its limits and its sums",
            "; ".join(wrong) or f"{answered:,} reservations",
            "",
            "all",
            not wrong,
            anywhere=True,
        ),
    ]


async def _put_in_force(pool: Pool) -> None:
    now = datetime.now(UTC)
    document = {
        "name": _NAME,
        "country": COUNTRY,
        "timezone": "Asia/Singapore",
        "starts_at": (now - timedelta(days=1)).isoformat(),
        "ends_at": (now + timedelta(days=30)).isoformat(),
        "audience": "public",
        "benefit": {"percent": "10"},
        "scope": {"everything": True},
        "limits": {"uses": {"overall": 10_000_000}, "money": {"overall": "10000000.00"}},
        "paid_by": {"cost_centre": "marketing"},
    }
    store, around = OfferStore(pool), await offer_publications(pool, now)
    (submitted,) = await store.publish([parse_offer(document, around)], around, Change("bench:author", now))
    approved = Change("bench:author", now, approved_by="bench:approver")
    await store.approve(_NAME, submitted.document.version, around, approved)


def _reservations(key: str) -> Iterator[bytes]:
    for number in count():
        body = {"member_id": f"m{number:08}", "item": _ITEM}
        yield request("POST", f"/v1/offers/{_NAME}/reservations", key, body, f"idempotency-key: r-{number}\r\n")


async def _wrong(pool: Pool, answered: int) -> list[str]:
    """What does not come out."""
    async with pool.acquire() as connection, connection.transaction(isolation="repeatable_read", readonly=True):
        counts = await compared_offers(connection)
    wrong = [
        f"{each.counted:,} {each.what}, {each.other:,} {each.against}" for each in counts if each.counted != each.other
    ]
    held = await pool.fetchval("select count(*) from offer_reservation")
    return wrong if held == answered else [*wrong, f"{answered:,} answered, {held:,} held"]
