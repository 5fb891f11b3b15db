"""How much the queues hold. Counting takes nothing out of them."""

from abacus.queues.dead import dead_letters
from abacus.queues.definition import AWARD, EXPIRY, RETRY
from abacus.queues.sqs import Client, SqsQueue
from abacus.reconcile.verdict import Queues


class QueueCounts:
    """Counts in the order that `Queues` asks for. Raises `Unavailable`."""

    def __init__(self, client: Client, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    async def count(self) -> Queues:
        retry = await (await SqsQueue.find(self._client, self._prefix + RETRY)).holds()
        award = await (await SqsQueue.find(self._client, self._prefix + AWARD)).holds()
        letters = await dead_letters(self._client, self._prefix)
        expiry = f"{self._prefix}{EXPIRY}-dlq"
        return Queues(retry, award, sum(each.messages for each in letters if each.queue != expiry))
