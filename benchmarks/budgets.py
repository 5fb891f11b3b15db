"""What requests of each route cost, against a budget that stands in the repository: `budgets.json`.

A cost is processor time of the process that answers, told in units of a fixed piece of work that is measured beside it:
so a budget holds on another machine, and on this one while it is slow. Noise makes a request dearer and never cheaper,
so the cheapest of some rounds counts.
"""

import json
import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import orjson
import psutil

from abacus.cli.house.stack import make_ready
from abacus.documents.store import DocumentStore
from abacus.platform.embedded import EmbeddedStack
from abacus.platform.postgres import Pool, nothing_else, open_pool
from abacus.platform.settings import Settings
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.kind import COUNTERS, held_sources
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.kind import SOURCES, Reserved
from abacus.signals.places.place_store import PlaceStore
from abacus.signals.places.region_store import Loading, RegionStore
from benchmarks.api import MEMBERS, free_port, is_up, load_all
from benchmarks.budget_requests import COUNTRY, ROUTES, Route
from benchmarks.callers import entered_partner
from benchmarks.nearby_examples import places
from benchmarks.offer_asking import put_in_force
from benchmarks.pipeline import worker
from benchmarks.region_examples import net
from benchmarks.report import Figure
from tests.support.editions import edition_of

BUDGETS: Final = Path(__file__).with_suffix(".json")
MOST: Final = 1.5  # times its budget

_CALLERS: Final = 8
_ROUNDS: Final = 5
_SHORT_ROUNDS: Final = 3
_WORKED_S: Final = 0.1  # on the fixed work, before and after each round
_LISTED: Final = [{"id": f"i{each}", "price": f"{each}.50", "tags": ["a", "b"]} for each in range(20)]


_OFFERS: Final = 1_000
_PLACES: Final = 20_000
_ROWS: Final = 20  # of regions, and as many columns
_SIDE: Final = 0.18  # degrees of each
_SOURCE: Final = {
    "source": "weather",
    "topic": "weather.observations",
    "fields": {"type": "/type", "id": "/id", "time": "/at"},
    "types": {"rain.drop": {"city_id": {"pointer": "/city", "type": "text"}}},
}
_COUNTER: Final = {"id": 1, "name": "drops", "template": "drops:city:{city_id}", "on": ["rain.drop"]}
_ENTER: Final = f"""
insert into account (member_id, program, country, balance)
select 'm' || each, 'GRP', '{COUNTRY}', 1000000 from generate_series(0, {MEMBERS} - 1) each
"""


class Cost(NamedTuple):
    """A request of a route: microseconds of processor time, and the same in pieces of the fixed work."""

    cpu_us: float
    units: float


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    async with AsyncExitStack() as stack:
        topics = {"abacus.events.v1": 4}
        embedded = await stack.enter_async_context(EmbeddedStack(directory, kafka_topics=topics))
        settings = Settings(
            database_url=embedded.database_url,
            sqs_endpoint_url=embedded.sqs_endpoint_url,
            kafka_bootstrap=embedded.kafka_bootstrap,
        )
        await make_ready(settings)
        pool = await open_pool(settings.required("database_url"), size=1, role=None)
        stack.push_async_callback(pool.close)
        await _furnish(pool, settings)
        key = await entered_partner(pool, awards=True, may_spend=True, may_count=True, may_use_offers=True)
        running: dict[str, tuple[psutil.Process, int]] = {}
        for name in dict.fromkeys(route.worker for route in ROUTES):
            port = free_port()
            process = await stack.enter_async_context(worker(name, settings.model_copy(update={f"{name}_port": port})))
            running[name] = psutil.Process(process.pid), port
        for _, port in running.values():
            await is_up(port)
        costs: dict[str, Cost] = {}
        for route in ROUTES:
            costs[route.name] = await _cost(*running[route.worker], route, key, _SHORT_ROUNDS if short else _ROUNDS)
    return figures(costs, json.loads(BUDGETS.read_text(encoding="utf-8")))


async def _furnish(pool: Pool, settings: Settings) -> None:
    """Accounts, offers, places, regions and a counter, so that routes have something to look at."""
    now = datetime.now(UTC)
    await pool.execute(_ENTER)
    await put_in_force(pool, _OFFERS)
    await PlaceStore(pool).enter([*places(_PLACES)], now)
    edition = edition_of(COUNTRY, [*net(_ROWS, _ROWS, south_west=(100.0, 1.0), size=_SIDE, jags=3)])
    await RegionStore(pool).load(edition, Loading("person:benchmark", now, waits=False), nothing_else)
    looked = Reserved((), settings.events_topic).look
    (weather,) = await DocumentStore(pool, SOURCES).publish([parse_source(_SOURCE)], looked, by="benchmark", now=now)
    counter = parse_definition(_COUNTER, {"weather": weather.document})
    await DocumentStore(pool, COUNTERS).publish([counter], held_sources(()), by="benchmark", now=now)


async def _cost(process: psutil.Process, port: int, route: Route, key: str, rounds: int) -> Cost:
    requests = route.requests(key)
    await load_all(port, islice(requests, route.number), _CALLERS)  # caches, plans of statements, the specializer
    costs = []
    for _ in range(rounds):
        work_before, before = _work_us(), _cpu_s(process)
        await load_all(port, islice(requests, route.number), _CALLERS)
        cpu_us = 1e6 * (_cpu_s(process) - before) / route.number
        costs.append(Cost(cpu_us, 2 * cpu_us / (work_before + _work_us())))
    return min(costs, key=lambda cost: cost.units)


def figures(costs: Mapping[str, Cost], budgets: Mapping[str, float]) -> list[Figure]:
    """Raises `KeyError` for a route without a budget."""
    return [
        Figure(
            name,
            f"{cost.cpu_us:.0f} µs of CPU, {cost.units:.1f} units",
            f"{cost.units / budgets[name]:.2f} times its budget of {budgets[name]:g} units",
            f"<= {MOST:g} times",
            cost.units <= MOST * budgets[name],
            anywhere=True,
        )
        for name, cost in costs.items()
    ]


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _work_us() -> float:
    """Microseconds of processor time for a piece of the fixed work, which is what requests are made of: JSON, texts,
    and small objects.
    """
    began, pieces = time.process_time(), 0
    while time.process_time() - began < _WORKED_S:
        for _ in range(10):
            read = orjson.loads(orjson.dumps(_LISTED))
            found = {each["id"]: (Decimal(each["price"]), frozenset(each["tags"])) for each in read}
            sorted(found.items(), key=lambda item: -item[1][0])
        pieces += 10
    return 1e6 * (time.process_time() - began) / pieces
