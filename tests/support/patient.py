"""A caller of a worker that may die at any moment: it asks again under the same key until there is an answer."""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final, Self

import httpx

_AGAIN_AFTER_S: Final = 0.05
_NO_ANSWER: Final = frozenset({429, 502, 503})


class PatientCaller:
    """A partner whose worker listens on one of these ports; each question goes to the next of them."""

    def __init__(self, ports: Sequence[int], key: str) -> None:
        self._ports = ports
        self._caller = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"},
            timeout=10,
            verify=False,  # noqa: S501  # plain HTTP
        )
        self._asked = 0
        self.repeated = 0  # how often there was no answer

    async def post(self, path: str, key: str, body: Any = None) -> httpx.Response:
        while True:
            port = self._ports[self._asked % len(self._ports)]
            self._asked += 1
            try:
                answer = await self._caller.post(
                    f"http://127.0.0.1:{port}/v1/{path}", json=body, headers={"Idempotency-Key": key}
                )
                if answer.status_code not in _NO_ANSWER:
                    return answer
            except httpx.TransportError:
                pass
            self.repeated += 1
            await asyncio.sleep(_AGAIN_AFTER_S)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._caller.aclose()
