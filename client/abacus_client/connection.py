"""The settings of a client: the address of the API, the key and the secret, timeouts and retries."""

import random
from dataclasses import dataclass, field
from typing import Any

import httpx

from abacus_client.calls import Answer, Call
from abacus_client.clock import Clock
from abacus_client.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from abacus_client.tries import RetryPolicy, Tries
from abacus_client.version import VERSION


@dataclass(frozen=True, slots=True)
class Connection:
    """The settings, the same for both clients."""

    base_url: str
    key: str = field(repr=False)
    signing_secret: str | None = field(repr=False)
    timeout_s: float
    policy: RetryPolicy
    clock: Clock
    rng: random.Random = field(default_factory=random.Random)

    def options(self) -> dict[str, Any]:
        """The options of httpx's clients, blocking or not."""
        headers = {"Authorization": f"Bearer {self.key}", "User-Agent": f"abacus-client/{VERSION}"}
        return {"base_url": self.base_url, "headers": headers, "timeout": self.timeout_s}

    def tries(self, call: Call[Answer]) -> Tries[Answer]:
        return Tries(call, self.policy, self.rng)

    def request(self, http: httpx.Client | httpx.AsyncClient, call: Call[Any]) -> httpx.Request:
        """The request of one try, signed anew."""
        request = http.build_request(
            call.method,
            call.path,
            content=call.body,
            headers=call.headers,
            # The time that the API may wait, because the call says so, is not time that it lost.
            timeout=httpx.Timeout(self.timeout_s, read=self.timeout_s + call.wait_s),
        )
        if call.body is not None:
            request.headers["Content-Type"] = "application/json"
        if self.signing_secret is not None:
            timestamp = int(self.clock.now().timestamp())
            path = request.url.raw_path.decode("ascii")
            request.headers[TIMESTAMP_HEADER] = str(timestamp)
            key = request.headers.get("Idempotency-Key", "")
            request.headers[SIGNATURE_HEADER] = sign(
                self.signing_secret, request.method, path, request.content, key=key, timestamp=timestamp
            )
        return request
