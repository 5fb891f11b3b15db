"""A proxy in front of SQS with every misfortune that SQS allows: on the way there, there, and on the way back."""

import asyncio
import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import urlsplit

import httpx
import orjson

from tests.reliability.chaos.proxies.listener import Answer, Request, listening
from tests.reliability.chaos.proxies.shelf import Message, Shelf

LATE: Final = "late:"  # the receipt of a copy that the proxy hands out after its message may be gone

_TARGET: Final = "x-amz-target"
_JSON: Final = "application/x-amz-json-1.0"
_OF_THE_CONNECTION: Final = frozenset(
    {"host", "connection", "content-length", "transfer-encoding", "keep-alive", "content-encoding", "accept-encoding"}
)
_DELETES: Final = frozenset({"DeleteMessage", "DeleteMessageBatch"})
_LONGEST_WAIT_S: Final = 20
_OVERTAKEN_BY: Final = 20


@dataclass(frozen=True)
class SqsFaults:
    """How probable each misfortune is. All but the first three are about a call, those are about a delivered message.

    `duplicate`: it is delivered a second time soon, to whoever asks, under the same receipt.
    `late_duplicate`: once more a minute or more later, also when it was deleted meanwhile.
    `reorder`: it is held back until others were handed out.
    `drop_delete`: a delete is carried out and answered as failed, or not carried out and answered as done.
    `throttle`: answered as too much, or as unavailable.
    `partial`: some entries of a batch are neither carried out nor at fault.
    `timeout`: carried out or not, the answer never comes.
    """

    duplicate: float = 0.0
    late_duplicate: float = 0.0
    reorder: float = 0.0
    drop_delete: float = 0.0
    throttle: float = 0.0
    partial: float = 0.0
    timeout: float = 0.0


class SqsProxy:
    """Speaks the JSON protocol of SQS on loopback; addresses of queues in its answers lead through it.

    `faults` may be replaced at any time. `struck` counts what has struck, by the names of `SqsFaults`; a duplicate
    counts when it is handed out. `held` is how many messages still wait in here: soon is `soon_s` at most, and late
    between once and one and a half times `late_after_s`.
    """

    def __init__(
        self, upstream_url: str, faults: SqsFaults, seed: int, *, soon_s: float = 2.0, late_after_s: float = 60.0
    ) -> None:
        self.faults = faults
        self.struck: Counter[str] = Counter()
        self.url = ""
        self._upstream = upstream_url
        self._rng = random.Random(seed)
        self._soon_s = soon_s
        self._late_after_s = late_after_s
        self._shelves: defaultdict[str, Shelf] = defaultdict(Shelf)
        self._receipts = itertools.count(1)
        self._open = AsyncExitStack()

    @property
    def held(self) -> int:
        return sum(map(len, self._shelves.values()))

    async def __aenter__(self) -> Self:
        self._client = await self._open.enter_async_context(
            httpx.AsyncClient(
                base_url=self._upstream,
                timeout=60,
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=50),
                trust_env=False,
            )
        )
        self.url = await self._open.enter_async_context(listening(self._answer))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._open.aclose()

    async def _answer(self, request: Request) -> Answer | None:
        if self._strikes("throttle"):
            return self._rng.choice((_error(400, "RequestThrottled"), _error(503, "ServiceUnavailable")))
        try:
            if not self._strikes("timeout"):
                return await self._carry_out(request)
            if self._rng.random() < 0.5:
                await self._carry_out(request)
            await asyncio.sleep(self._rng.uniform(0, self._soon_s))
        except httpx.TransportError:
            pass  # the service is away, and the client sees it go
        return None

    async def _carry_out(self, request: Request) -> Answer:
        operation = request.headers.get(_TARGET, "").rpartition(".")[2]
        if not operation:
            return await self._forward(request)
        call: dict[str, Any] = orjson.loads(request.body)
        if operation == "ReceiveMessage":
            return await self._receive(request, call)
        if operation in _DELETES and self._strikes("drop_delete"):
            if self._rng.random() < 0.5:
                await self._batch_or_one(request, call)
                return _error(500, "InternalFailure")
            return _done({"Successful": _named(call["Entries"]), "Failed": []} if "Entries" in call else {})
        return await self._batch_or_one(request, call)

    async def _receive(self, request: Request, call: dict[str, Any]) -> Answer:
        """The messages that wait here and whose time has come, then messages of the queue."""
        shelf = self._shelves[urlsplit(call["QueueUrl"]).path]
        room = int(call.get("MaxNumberOfMessages", 1))
        messages = self._from_the_shelf(shelf, room)
        if len(messages) == room:
            return _done({"Messages": messages})
        call["MaxNumberOfMessages"] = room - len(messages)
        if messages:
            call["WaitTimeSeconds"] = 0
        elif (due_in := shelf.next_due_in(_now())) is not None:
            call["WaitTimeSeconds"] = min(int(due_in), int(call.get("WaitTimeSeconds", _LONGEST_WAIT_S)))
        try:
            answer = await self._forward_call(request, call)
        except httpx.TransportError:
            if not messages:
                raise
        else:
            if answer.status != httpx.codes.OK and not messages:
                return answer
            fresh = _read(answer).get("Messages", [])
            messages += [message for message in fresh if self._leaves(message, shelf)]
            shelf.passed(len(messages))
            messages += self._from_the_shelf(shelf, room - len(messages))  # a copy may come together with its message
        return _done({"Messages": messages})

    def _from_the_shelf(self, shelf: Shelf, room: int) -> list[Message]:
        taken = shelf.take(_now(), room)
        self.struck.update(each.fault for each in taken if each.behind == 0 or each.passed_by)
        return [each.message for each in taken]

    def _leaves(self, message: Message, shelf: Shelf) -> bool:
        """Whether the message is handed out now. Its copies, and a message that is held back, are put on the shelf."""
        now = _now()
        if self._happens("duplicate"):
            shelf.put(_again(message), "duplicate", now + self._soon_s * self._rng.uniform(-0.25, 1))
        if self._happens("late_duplicate"):
            copy = _again(message) | {"ReceiptHandle": f"{LATE}{next(self._receipts)}"}
            shelf.put(copy, "late_duplicate", now + self._late_after_s * self._rng.uniform(1, 1.5))
        if self._happens("reorder"):
            shelf.put(message, "reorder", now + self._soon_s, behind=self._rng.randint(1, _OVERTAKEN_BY))
            return False
        return True

    async def _batch_or_one(self, request: Request, call: dict[str, Any]) -> Answer:
        """The entries of a batch part ways: late copies are the proxy's own, some are refused, the rest goes on."""
        if "Entries" not in call:
            if str(call.get("ReceiptHandle", "")).startswith(LATE):
                return _done({})
            return await self._forward_call(request, call)
        ours = [entry for entry in call["Entries"] if str(entry.get("ReceiptHandle", "")).startswith(LATE)]
        # A copy beside its message has the same receipt, which not every service takes twice: it goes with its message.
        first = {entry.get("ReceiptHandle", entry["Id"]): entry for entry in reversed(call["Entries"])}
        ours += [entry for entry in call["Entries"] if entry not in ours and entry not in first.values()]
        theirs = [entry for entry in call["Entries"] if entry not in ours]
        refused: list[dict[str, Any]] = []
        if theirs and self._strikes("partial"):
            refused = self._rng.sample(theirs, self._rng.randint(1, max(1, len(theirs) - 1)))
        forwarded = [entry for entry in theirs if entry not in refused]
        document: dict[str, Any] = {}
        if forwarded:
            answer = await self._forward_call(request, {**call, "Entries": forwarded})
            if answer.status != httpx.codes.OK:
                return answer
            document = _read(answer)
        return _done(
            {
                "Successful": [*document.get("Successful", []), *_named(ours)],
                "Failed": [*document.get("Failed", []), *_named(refused, Code="InternalError", SenderFault=False)],
            }
        )

    async def _forward_call(self, request: Request, call: dict[str, Any]) -> Answer:
        if "QueueUrl" in call:
            call = {**call, "QueueUrl": _at(self._upstream, call["QueueUrl"])}
        answer = await self._forward(request._replace(body=orjson.dumps(call)))
        if answer.status != httpx.codes.OK:
            return answer  # a service in trouble does not even speak JSON
        document = _read(answer)
        if "QueueUrl" in document:
            document["QueueUrl"] = _at(self.url, document["QueueUrl"])
        elif "QueueUrls" in document:
            document["QueueUrls"] = [_at(self.url, url) for url in document["QueueUrls"]]
        else:
            return answer
        return answer._replace(body=orjson.dumps(document))

    async def _forward(self, request: Request) -> Answer:
        answer = await self._client.request(
            request.method, request.path, headers=_passed_on(request.headers), content=request.body
        )
        return Answer(answer.status_code, _passed_on(answer.headers), answer.content)

    def _strikes(self, fault: str) -> bool:
        if happens := self._happens(fault):
            self.struck[fault] += 1
        return happens

    def _happens(self, fault: str) -> bool:
        probability: float = getattr(self.faults, fault)
        return self._rng.random() < probability


def _again(message: Message) -> Message:
    """The message as it looks when it comes a second time."""
    attributes = message.get("Attributes", {})
    if "ApproximateReceiveCount" in attributes:
        receives = int(attributes["ApproximateReceiveCount"]) + 1
        attributes = {**attributes, "ApproximateReceiveCount": str(receives)}
    return {**message, "Attributes": attributes}


def _named(entries: Sequence[Mapping[str, Any]], **more: object) -> list[dict[str, Any]]:
    return [{"Id": entry["Id"], **more} for entry in entries]


def _at(base: str, queue_url: str) -> str:
    """The queue's address by way of another server."""
    there = urlsplit(base)
    return urlsplit(queue_url)._replace(scheme=there.scheme, netloc=there.netloc).geturl()


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OF_THE_CONNECTION}


def _read(answer: Answer) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads(answer.body) if answer.body else {}
    return document


def _done(document: dict[str, Any]) -> Answer:
    return Answer(200, {"content-type": _JSON}, orjson.dumps(document))


def _error(status: int, code: str) -> Answer:
    document = {"__type": f"com.amazonaws.sqs#{code}", "message": "by the proxy"}
    return Answer(status, {"content-type": _JSON, "x-amzn-query-error": f"{code};Receiver"}, orjson.dumps(document))


def _now() -> float:
    return asyncio.get_running_loop().time()
