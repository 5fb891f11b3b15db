"""An API that gives the answers of a script, in turn, and keeps the requests."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from abacus.core.clock import Clock, SystemClock
from abacus_client import AsyncClient, Client
from tests.client.asking import EitherClient

KEY = "abk_live_not_a_real_one"


@dataclass
class ScriptedApi:
    """Its client waits for nothing; `slept` says how long it would have."""

    awaited: bool
    script: list[httpx.Response | httpx.RequestError] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    clients: list[EitherClient] = field(default_factory=list)

    def answers(self, *script: httpx.Response | httpx.RequestError) -> None:
        self.script = list(script)

    def client(
        self,
        base_url: str = "http://abacus.example",
        *,
        signing_secret: str | None = None,
        timeout_s: float = 10.0,
        retries: int = 3,
        clock: Clock | None = None,
    ) -> EitherClient:
        options: dict[str, Any] = {
            "signing_secret": signing_secret,
            "timeout_s": timeout_s,
            "retries": retries,
            "transport": httpx.MockTransport(self._answer),
            "clock": clock or SystemClock(),
        }
        client: EitherClient
        if self.awaited:
            client = AsyncClient(base_url, KEY, sleep=self._sleep, **options)
        else:
            client = Client(base_url, KEY, sleep=self.slept.append, **options)
        self.clients.append(client)
        return client

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.script.pop(0)
        if isinstance(answer, httpx.RequestError):
            raise answer
        return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)  # one may come again

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def award_document(**changes: object) -> dict[str, object]:
    return {
        "award_id": "0b3d0c1e-7c5b-5b0e-9f5e-3a2b1c0d9e8f",
        "status": "queued",
        "points": 100,
        "program": "GRP",
        "member_id": "bob",
        "expires_on": "2026-11-30",
        "explanation": {"granted_by": "acme", "reason": "Hi", "card": "SG@1", "points": 100},
        **changes,
    }


def transfer_document(seq: int) -> dict[str, object]:
    return {
        "id": f"bob:GRP:{seq}",
        "program": "GRP",
        "seq": seq,
        "kind": "earn",
        "points": 5,
        "balance_after": 5 * seq,
        "key": f"api:acme:{seq}",
        "country": "SG",
        "occurred_at": "2026-05-01T12:00:00+00:00",
        "posted_at": "2026-05-01T12:00:01.5+00:00",
        "expires_on": "2026-11-30",
        "explanation": {"points": 5},
    }


def accepted(headers: Mapping[str, str] | None = None, **changes: object) -> httpx.Response:
    return httpx.Response(202, json=award_document(**changes), headers=headers)


def problem(status: int, kind: str, headers: Mapping[str, str] | None = None, **more: object) -> httpx.Response:
    document = {
        "type": f"/problems/{kind}",
        "title": "A title",
        "status": status,
        "detail": "What happened",
        "request_id": "6f1c0c4e7b0f4c52",
        **more,
    }
    return httpx.Response(
        status, json=document, headers={"Content-Type": "application/problem+json", **(headers or {})}
    )
