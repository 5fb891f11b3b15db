"""A partner of the demo, at the doors where offers are asked for and taken, and where points buy rewards."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

import httpx

from abacus.core.errors import Refused, Unavailable
from abacus.platform.health import WorkerHealth
from abacus.platform.patience import until_available
from abacus.platform.settings import Settings

_ANSWERED: Final = 500
_PATIENCE_S: Final = 30


class Counter(NamedTuple):
    """Both doors, with the key of the partner."""

    offers: httpx.AsyncClient
    api: httpx.AsyncClient


@asynccontextmanager
async def at_the_counter(settings: Settings, key: str) -> AsyncIterator[Counter]:
    offers, api = (settings.offers_host, settings.offers_port), (settings.api_host, settings.api_port)
    async with partner_at(*offers, key) as asking, partner_at(*api, key) as spending:
        yield Counter(asking, spending)


def partner_at(host: str, port: int | None, key: str) -> httpx.AsyncClient:
    """A door, for the partner of this key."""
    url, headers = f"http://{host}:{port}", {"Authorization": f"Bearer {key}"}
    return httpx.AsyncClient(base_url=url, headers=headers, timeout=20, verify=False)  # noqa: S501  # plain HTTP, on loopback


async def asked(
    client: httpx.AsyncClient, path: str, body: Mapping[str, Any] | None = None, *, key: str | None = None
) -> httpx.Response:
    """A refusal is an answer too. The partner asks again while there is none, as before a new rate card is final."""

    async def answer() -> httpx.Response:
        answered = await client.post(path, json=body, headers={"Idempotency-Key": key} if key is not None else None)
        if answered.status_code >= _ANSWERED:
            raise Unavailable("API", f"{path}: {answered.status_code}")
        return answered

    try:
        async with asyncio.timeout(_PATIENCE_S):
            return await until_available(answer, WorkerHealth("partner"))
    except TimeoutError as error:
        raise Unavailable("API", f"{path}: nothing within {_PATIENCE_S} s") from error


def told(answer: httpx.Response) -> dict[str, Any]:
    """Raises `Refused` for what should not be refused; an offer that has changed is told."""
    document: dict[str, Any] = answer.json()
    if answer.is_error and "now" not in document:
        raise Refused(f"{answer.request.url.path}: {answer.status_code}, {document.get('detail', '')}")
    return document
