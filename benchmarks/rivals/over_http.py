"""A ledger that is asked over HTTP, in JSON."""

from collections.abc import AsyncIterator, Container, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any, Final

import aiohttp

from abacus.core.errors import Unavailable

_ANSWERS_WITHIN_S: Final = 120.0


class Asked:
    """The ledger behind an address."""

    def __init__(self, session: aiohttp.ClientSession, name: str) -> None:
        self._session = session
        self._name = name

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        query: Mapping[str, str] | None = None,
        refusals: Container[int] = (),
    ) -> tuple[int, Any]:
        """The status and the document. Raises `Unavailable` on a refusal that is not one of `refusals`."""
        try:
            async with self._session.request(method, path, json=body, params=query) as response:
                status, text = response.status, await response.text()
                if status < HTTPStatus.BAD_REQUEST or status in refusals:
                    return status, await response.json(content_type=None) if text else None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise Unavailable(self._name, f"{method} {path}: {error!r}") from error
        raise Unavailable(self._name, f"{method} {path}: {status} {text[:500]}")


@asynccontextmanager
async def asked(
    address: str, name: str, connections: int = 1, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Asked]:
    timeout = aiohttp.ClientTimeout(total=_ANSWERS_WITHIN_S)
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(address, headers=headers, timeout=timeout, connector=connector) as session:
        yield Asked(session, name)
