"""`abacus where`: in which place an award or a transaction is, and why."""

from collections.abc import Awaitable, Sequence
from datetime import timedelta
from typing import Annotated, Final

import typer

from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.shell import database, settings, sqs
from abacus.core.clock import SystemClock
from abacus.core.errors import AbacusError
from abacus.oversight.where.decide.mentions import Wanted
from abacus.oversight.where.messages import Window, in_dead_letters, in_stream
from abacus.oversight.where.records import in_ledger, in_quarantine, in_register
from abacus.oversight.where.types import Sighting, Station
from abacus.platform.settings import Settings
from abacus.platform.sqs.definition import AWARD, RETRY
from abacus.platform.sqs.port import Depth
from abacus.platform.sqs.queue import Client, SqsQueue

_ORDER: Final = list(Station)
_CLOCKS_DIFFER_BY: Final = timedelta(minutes=5)
_NOT_FOUND: Final = 1
_UNCERTAIN: Final = 2


class _Search:
    """Looks in one place after the other, and notes the places that cannot be reached."""

    def __init__(self) -> None:
        self.sightings: list[Sighting] = []
        self.unknown: dict[str, str] = {}

    async def look(self, place: Station, looking: Awaitable[Sequence[Sighting]]) -> None:
        try:
            self.sightings += await looking
        except AbacusError as error:
            self.unknown[str(place)] = str(error)

    @property
    def keys(self) -> list[str]:
        return sorted({each.key for each in self.sightings if each.key is not None})


async def where(
    key: Annotated[
        str, typer.Argument(metavar="KEY|TRANSACTION", help="A key such as txn:rides:T-1001, or a transaction's id.")
    ],
    source: Annotated[str | None, typer.Option(help="The source of the transaction, such as rides.")] = None,
    hours: Annotated[int, typer.Option(min=1, max=24 * 31, help="Look so far back in the stream.")] = 24,
) -> Answer:
    """Say where an award or a transaction is: posted, rejected, with a partner's awards, in the quarantine, among dead
    letters, in the stream.

    Exit 0 if it is anywhere, 1 if it is nowhere, 2 if it was not met and a place could not be looked into.
    """
    config, clock, wanted, search = settings(), SystemClock(), Wanted(key, source), _Search()
    now = clock.now()
    async with database(config) as pool, sqs(config) as client:
        await search.look(Station.QUARANTINE, in_quarantine(pool, clock, wanted))
        await search.look(Station.DEAD_LETTERS, in_dead_letters(client, config.queue_prefix, wanted))
        if config.kafka_bootstrap is None:
            search.unknown[Station.STREAM] = "ABACUS_KAFKA_BOOTSTRAP is not set"
        else:
            group, topic = f"{config.queue_prefix}calculator", config.transactions_topic
            window = Window(topic, group, now - timedelta(hours=hours), now + _CLOCKS_DIFFER_BY)
            await search.look(Station.STREAM, in_stream(config.kafka_bootstrap, window, wanted))
        keys = sorted({*wanted.keys, *search.keys})
        await search.look(Station.LEDGER, in_ledger(pool, keys))
        await search.look(Station.PARTNERS, in_register(pool, clock, keys))
        waiting = await _waiting(client, config)
    return _answer(wanted, search, waiting)


async def _waiting(client: Client, config: Settings) -> dict[str, Depth]:
    """Messages of the queues that nobody but their workers may look into: a look counts as a try."""
    try:
        return {
            name: await (await SqsQueue.find(client, config.queue_prefix + name)).depth() for name in (AWARD, RETRY)
        }
    except AbacusError:
        return {}


def _answer(wanted: Wanted, search: _Search, waiting: dict[str, Depth]) -> Answer:
    sightings = sorted(search.sightings, key=lambda each: _ORDER.index(each.place))
    document = {
        "wanted": wanted.text,
        "found": bool(sightings),
        "places": [each._asdict() for each in sightings],
        "waiting": {name: sum(depth) for name, depth in waiting.items()},
        "unknown": search.unknown,
    }
    nowhere = _UNCERTAIN if search.unknown else _NOT_FOUND
    return Answer(document, *_lines(wanted, sightings, search, waiting), exit_code=0 if sightings else nowhere)


def _lines(wanted: Wanted, sightings: Sequence[Sighting], search: _Search, waiting: dict[str, Depth]) -> list[str]:
    lines = [
        f"{each.place}: {each.key or wanted.text}{f', {each.at:%Y-%m-%d %H:%M:%S} UTC' if each.at else ''}: {each.why}"
        for each in sightings
    ]
    if not sightings:
        lines.append(
            f"{wanted.text} is nowhere: not posted, not rejected, not set aside, no dead letter, not in the stream"
        )
    if not any(each.place in {Station.LEDGER, Station.REJECTED} for each in sightings):
        lines += [
            f"{sum(depth):,} messages are on the {name} queue, which cannot be looked into; it may be among them"
            for name, depth in waiting.items()
            if sum(depth)
        ]
    return [*lines, *(f"not looked into: {place}: {why}" for place, why in search.unknown.items())]
