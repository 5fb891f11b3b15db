"""The number of messages on the queues. Counting takes nothing out of them."""

from abacus.oversight.reconcile.decide.verdict import Queues
from abacus.platform.sqs.dead_letters import dead_letters
from abacus.platform.sqs.definition import AWARD, EXPIRY, RETRY
from abacus.platform.sqs.queue import Client, SqsQueue


class QueueCounts:
    """Counts the queues in the order that `Queues` prescribes. Raises `Unavailable`."""

    def __init__(self, client: Client, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    async def count(self) -> Queues:
        retry = await (await SqsQueue.find(self._client, self._prefix + RETRY)).holds()
        award = await (await SqsQueue.find(self._client, self._prefix + AWARD)).holds()
        letters = await dead_letters(self._client, self._prefix)
        expiry = f"{self._prefix}{EXPIRY}-dlq"
        return Queues(retry, award, sum(each.messages for each in letters if each.queue != expiry))
