"""Awards through a real queue, compressed and plain in turns: the CPU of ElasticMQ and of who sends and receives."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

import psutil

from abacus.ledger.types.award_envelope import encode_award
from abacus.platform.sqs.packer import Packed, pack_compressed, pack_counting
from abacus.platform.sqs.queue import SqsQueue, sqs_client
from benchmarks.envelopes import example_awards
from benchmarks.report import Figure
from benchmarks.services import elasticmq_alone

AWARDS: Final = 20_000
BATCH: Final = 2_000
ROUNDS: Final = 6
WARM: Final = 2  # rounds until the JVM has compiled what it does

Pack = Callable[[str, Sequence[bytes]], Iterator[Packed]]
_PACKERS: Final[tuple[Pack, Pack]] = (pack_counting, pack_compressed)


class Cost(NamedTuple):
    """CPU seconds for all awards: the queue's, and ours."""

    theirs: float
    ours: float


async def measure() -> list[Figure]:
    documents = [encode_award(award) for award in islice(example_awards(), AWARDS)]
    async with elasticmq_alone() as (endpoint_url, process), sqs_client(endpoint_url) as client:
        queues = [await _queue(client, name) for name in ("plain", "compressed")]
        rounds = [
            [await _round(queue, process, documents, pack) for queue, pack in zip(queues, _PACKERS, strict=True)]
            for _ in range(WARM + ROUNDS)
        ][WARM:]
    plain, compressed = (
        [sorted(seconds)[ROUNDS // 2] / AWARDS * 1e6 for seconds in zip(*costs, strict=True)]
        for costs in zip(*rounds, strict=True)
    )
    names = ("CPU of ElasticMQ for an award, sent, received and deleted", "… of who sends and receives")
    return [
        Figure(name, f"{after:.1f} µs", f"{after / before:.2f} of plain, {before:.1f} µs")
        for name, before, after in zip(names, plain, compressed, strict=True)
    ]


async def _queue(client: Any, name: str) -> SqsQueue:
    await client.create_queue(QueueName=name)
    return await SqsQueue.find(client, name, wait_s=1)


async def _round(queue: SqsQueue, process: psutil.Process, documents: Sequence[bytes], pack: Pack) -> Cost:
    """Batch by batch, as a calculator sends and an awarder takes."""
    theirs, ours = -_cpu(process), -time.process_time()
    for start in range(0, len(documents), BATCH):
        packed = list(pack("awards", documents[start : start + BATCH]))
        await queue.send([each.body for each in packed])
        left = len(packed)
        while left:
            received = await queue.receive()
            await queue.delete(received)
            left -= len(received)
    return Cost(theirs + _cpu(process), ours + time.process_time())


def _cpu(process: psutil.Process) -> float:
    return sum(process.cpu_times()[:2])
