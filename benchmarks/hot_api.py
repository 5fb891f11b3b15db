"""The hot routes of the API: one process on a core of its own. Callers, Postgres, SQS and the awarder share the others.

What one process answers is told as its processor time for a request, since the others are busy before it is; and how
many requests a second were answered meanwhile.
"""

from collections.abc import Iterator
from contextlib import AsyncExitStack
from itertools import count, islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import psutil

from abacus.core.ids import award_id, partner_key
from abacus.platform.postgres import open_pool
from benchmarks.api import drained, grant_requests, request, service
from benchmarks.own_core import AskedProcess, Served, core_left_free, put_on
from benchmarks.report import Figure, rate
from benchmarks.spending import MEMBERS, RICH, is_right

CALLERS: Final = 64
BATCH: Final = 100
BATCH_CALLERS: Final = 4
SECONDS: Final = 5.0
PACED_S: Final = 30.0

WANTED_AWARDS: Final = 4_000
WANTED_P99_MS: Final = 20
WANTED_MOVES: Final = 6_000
_PACED: Final = 0.7

_PARTNER: Final = "acme"
_ALONE: Final = "alone"
_MANY: Final = "many"
_KINDS: Final = ("spend", "hold", "capture")


class _Moved(NamedTuple):
    """The movements of one kind, each by itself and many at once."""

    singly: Served
    together: Served


async def measure(directory: Path, *, short: bool = False) -> list[Figure]:
    seconds, paced_s = (1.0, 2.0) if short else (SECONDS, PACED_S)
    async with AsyncExitStack() as stack:
        core = stack.enter_context(core_left_free())
        api = await service(stack, directory)
        put_on(core, api.pid)
        owner = await open_pool(api.settings.required("database_url"), size=1, role=None)
        await owner.execute(RICH, MEMBERS, timeout=600)
        await owner.execute("vacuum analyze account")
        await owner.close()
        asked = AskedProcess(psutil.Process(api.pid), api.port)
        grants = grant_requests(api.key)
        await asked.serve(grants, CALLERS, seconds / 2)
        awards = await asked.serve(grants, CALLERS, seconds)
        await drained(api.pool)
        paced = await asked.paced(grants, _PACED * awards.load.per_s, paced_s)
        await drained(api.pool)
        moved = {kind: await _moved(asked, api.key, kind, seconds) for kind in _KINDS}
        await is_right(api.pool)
    return [*_award_figures(awards, paced), *_movement_figures(moved)]


async def _moved(asked: AskedProcess, key: str, kind: str, seconds: float) -> _Moved:
    """Captures are of the holds that were placed before: fewer than those, so for a shorter time."""
    one_by_one, many = _single(key, kind), _batches(key, kind)
    lasting = seconds / 2 if kind == "capture" else seconds
    if kind == _KINDS[0]:
        await asked.serve(one_by_one, CALLERS, lasting / 4)
        await asked.serve(many, BATCH_CALLERS, lasting / 4)
    singly = await asked.serve(one_by_one, CALLERS, lasting)
    return _Moved(singly, await asked.serve(many, BATCH_CALLERS, lasting))


def _single(key: str, kind: str) -> Iterator[bytes]:
    for number in count():
        member, more = f"/v1/members/{_member(number)}", f"idempotency-key: {_key(kind, _ALONE, number)}\r\n"
        if kind == "capture":
            yield request("POST", f"{member}/holds/{_hold_id(_ALONE, number)}/capture", key)
        else:
            path = f"{member}/{'holds' if kind == 'hold' else kind}"
            yield request("POST", path, key, {"points": 5, "reason": "x"}, more)


def _batches(key: str, kind: str) -> Iterator[bytes]:
    numbers = count()
    while True:
        items = [_item(kind, number) for number in islice(numbers, BATCH)]
        yield request("POST", "/v1/movements", key, {"movements": items})


def _item(kind: str, number: int) -> dict[str, Any]:
    item = {"idempotency_key": _key(kind, _MANY, number), "kind": kind, "member_id": _member(number)}
    if kind == "capture":
        return item | {"hold_id": _hold_id(_MANY, number)}
    return item | {"points": 5, "reason": "x"}


def _key(kind: str, way: str, number: int) -> str:
    return f"{kind}-{way}-{number}"


def _member(number: int) -> str:
    return f"m{number * 7919 % MEMBERS}"


def _hold_id(way: str, number: int) -> str:
    """The id of a hold follows from its key."""
    return str(award_id(partner_key(_PARTNER, _key("hold", way, number))))


def _award_figures(awards: Served, paced: Served) -> list[Figure]:
    return [
        Figure(
            f"single awards, {CALLERS} callers, one process",
            f"{rate(awards.per_core, 'awards')} a core, {awards.cpu_us:.0f} µs of CPU",
            _meanwhile(awards),
            f">= {WANTED_AWARDS:,}/s",
            awards.per_core >= WANTED_AWARDS,
        ),
        Figure(
            f"… by a clock, {_PACED:.0%} of those answered",
            f"{rate(paced.load.per_s, 'awards')}, p99 {paced.load.p99_ms:.1f} ms",
            f"busy {paced.busy:.0%} of the time; the callers themselves are late by {paced.load.late_p99_ms:.1f} ms",
            f"p99 < {WANTED_P99_MS} ms",
            paced.load.p99_ms < WANTED_P99_MS,
        ),
    ]


def _movement_figures(moved: dict[str, _Moved]) -> Iterator[Figure]:
    for kind, (singly, together) in moved.items():
        yield Figure(
            f"{kind}s from {MEMBERS:,} members, each a request, {CALLERS} callers",
            f"{rate(singly.per_core, f'{kind}s')} a core, {singly.cpu_us:.0f} µs of CPU",
            _meanwhile(singly),
            f">= {WANTED_MOVES:,}/s",
            singly.per_core >= WANTED_MOVES,
        )
        per_s = together.load.per_s * BATCH
        yield Figure(
            f"… {BATCH} in a request, {BATCH_CALLERS} callers",
            f"{rate(per_s, f'{kind}s')}, p99 {together.load.p99_ms:.0f} ms",
            f"{together.cpu_us / BATCH:.0f} µs of CPU each, {singly.cpu_us * BATCH / together.cpu_us:.1f} times less",
            f">= {WANTED_MOVES:,}/s",
            per_s >= WANTED_MOVES,
        )


def _meanwhile(served: Served) -> str:
    return f"{rate(served.load.per_s, 'answered')}, p99 {served.load.p99_ms:.0f} ms, busy {served.busy:.0%} of the time"
