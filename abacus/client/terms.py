"""How a client stands to the API: where it is, by what key and secret, how long it waits and how often it tries."""

import random
from dataclasses import dataclass, field
from typing import Any

import httpx

from abacus import __version__
from abacus.client.asks import Answer, Ask
from abacus.client.tries import RetryPolicy, Tries
from abacus.core.clock import Clock
from abacus.intake.partners.decide.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign


@dataclass(frozen=True, slots=True)
class Terms:
    """The same for both clients."""

    base_url: str
    key: str = field(repr=False)
    signing_secret: str | None = field(repr=False)
    timeout_s: float
    policy: RetryPolicy
    clock: Clock
    rng: random.Random = field(default_factory=random.Random)

    def connection(self) -> dict[str, Any]:
        """What either of httpx's clients is made with."""
        headers = {"Authorization": f"Bearer {self.key}", "User-Agent": f"abacus-client/{__version__}"}
        return {"base_url": self.base_url, "headers": headers, "timeout": self.timeout_s}

    def tries(self, ask: Ask[Answer]) -> Tries[Answer]:
        return Tries(ask, self.policy, self.rng)

    def request(self, http: httpx.Client | httpx.AsyncClient, ask: Ask[Any]) -> httpx.Request:
        """One try, signed anew as it will be sent."""
        request = http.build_request(
            ask.method,
            ask.path,
            content=ask.body,
            headers=ask.headers,
            # What the API was asked to wait for is not time that it lost.
            timeout=httpx.Timeout(self.timeout_s, read=self.timeout_s + ask.wait_s),
        )
        if ask.body is not None:
            request.headers["Content-Type"] = "application/json"
        if self.signing_secret is not None:
            timestamp = int(self.clock.now().timestamp())
            path = request.url.raw_path.decode("ascii")
            request.headers[TIMESTAMP_HEADER] = str(timestamp)
            request.headers[SIGNATURE_HEADER] = sign(
                self.signing_secret, request.method, path, request.content, timestamp
            )
        return request
