"""A partner that has a server: asked by HTTP, with signed requests."""

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime
from http import HTTPStatus
from typing import Final
from uuid import UUID

import orjson

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.exchanges.carriers.line import MOST_BYTES, WITHIN_S, Line, NoAnswer
from abacus.exchanges.decide.contract import (
    JSON,
    VERIFY_PATH,
    Answer,
    NotOfContract,
    account_document,
    heard_to_cancel,
    heard_to_get,
    heard_to_put,
    heard_to_reverse,
    match_in,
    recalled_in,
    statement_in,
    statement_path,
    transfer_body,
    transfer_path,
)
from abacus.exchanges.decide.heard import Heard, Silence
from abacus.exchanges.decide.signing import signed_part
from abacus.exchanges.types import Account, Match, PartnerStatement, Recalled, Transfer
from abacus.platform.delivery.decide.signature import signed_headers
from abacus.platform.reading.breaker import Breaker
from abacus.platform.reading.decide.circuit import Patience

# The secrets that requests are signed with: two while one is replaced. Raises `Unavailable`.
SecretsOf = Callable[[], Awaitable[Sequence[str]]]

PATIENCE: Final = Patience(failures=10, first_s=1.0, longest_s=5.0)  # many fail at the same time
_STATEMENT_WITHIN_S: Final = 60.0
_MOST_OF_STATEMENT: Final = 64 * 1024 * 1024  # some 400,000 lines


class HttpPartner:
    """A partner under the address of its line. While it fails again and again it is left alone, and is silent."""

    def __init__(
        self, name: str, line: Line, secrets: SecretsOf, clock: Clock, breaker: Breaker, *, within_s: float = WITHIN_S
    ) -> None:
        self._name = name
        self._line = line
        self._secrets = secrets
        self._clock = clock
        self._breaker = breaker
        self._within_s = within_s

    def room(self) -> int:
        """How many questions may be put now: none while the partner is left alone, then one."""
        if not self._breaker.is_open:
            return sys.maxsize
        return 0 if self._breaker.rests_for_s else 1

    async def put(self, transfer: Transfer) -> Heard:
        id_ = transfer.exchange_id
        return await self._heard(heard_to_put, id_, "PUT", transfer_path(id_), transfer_body(transfer))

    async def get(self, exchange_id: UUID) -> Heard:
        return await self._heard(heard_to_get, exchange_id, "GET", transfer_path(exchange_id))

    async def cancel(self, exchange_id: UUID) -> Heard:
        return await self._heard(heard_to_cancel, exchange_id, "POST", f"{transfer_path(exchange_id)}/cancel")

    async def reverse(self, exchange_id: UUID) -> Heard:
        return await self._heard(heard_to_reverse, exchange_id, "POST", f"{transfer_path(exchange_id)}/reverse")

    async def verify(self, account: Account) -> Match:
        """Raises `Unavailable`."""
        try:
            return match_in(await self._asked("POST", VERIFY_PATH, orjson.dumps(account_document(account))))
        except (NoAnswer, NotOfContract) as fault:
            raise Unavailable(self._name, str(fault)) from None

    async def recalled(self, exchange_id: UUID) -> Recalled | None:
        """Raises `Unavailable`."""
        try:
            return recalled_in(await self._asked("GET", transfer_path(exchange_id)), exchange_id)
        except (NoAnswer, NotOfContract) as fault:
            raise Unavailable(self._name, str(fault)) from None

    async def statement(self, day: date) -> PartnerStatement:
        """Raises `Unavailable`, and `Refused` for a statement whose lines have other sums."""
        try:
            answer = await self._asked(
                "GET", statement_path(day), within_s=_STATEMENT_WITHIN_S, most_bytes=_MOST_OF_STATEMENT
            )
            return await asyncio.to_thread(statement_in, answer, day)  # it may be long
        except (NoAnswer, NotOfContract) as fault:
            raise Unavailable(self._name, str(fault)) from None

    async def _heard(
        self,
        read: Callable[[UUID, Answer, datetime], Heard],
        exchange_id: UUID,
        method: str,
        path: str,
        body: bytes = b"",
    ) -> Heard:
        try:
            answer = await self._asked(method, path, body)
        except NoAnswer as fault:
            return Silence(str(fault))
        except Unavailable as fault:
            return Silence(str(fault), self._breaker.rests_for_s or None)
        return read(exchange_id, answer, self._clock.now())

    async def _asked(
        self, method: str, path: str, body: bytes = b"", *, within_s: float | None = None, most_bytes: int = MOST_BYTES
    ) -> Answer:
        """Raises `NoAnswer`, and `Unavailable` where the partner is left alone or the secrets cannot be read."""
        secrets, target = await self._secrets(), self._line.target(path)
        now_s = int(self._clock.now().timestamp())
        headers = signed_headers(secrets, _new_id(), now_s, signed_part(method, target, body))
        if body:
            headers["content-type"] = JSON
        if not self._breaker.lets_through():
            raise Unavailable(self._name, f"it is left alone for a while: {self._breaker.why}")
        try:
            answer = await self._line.ask(
                method, target, headers, body, within_s=within_s or self._within_s, most_bytes=most_bytes
            )
        except NoAnswer as fault:
            self._breaker.failed(str(fault))
            raise
        if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            self._breaker.failed(f"answered {answer.status}")
        else:
            self._breaker.succeeded()
        return answer


def _new_id() -> str:
    """A name, not a secret: so it takes no random bytes of the system."""
    return f"req_{random.getrandbits(96):024x}"
