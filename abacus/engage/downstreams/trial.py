"""Tries a downstream: one message, signed and sent as every other, once."""

import secrets as random_secrets
import time
from typing import Final, NamedTuple

import orjson

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.engage.downstreams.decide.question import NoAnswer, question, read_answer
from abacus.engage.downstreams.services import Post
from abacus.engage.downstreams.store import Signed, valid_secrets
from abacus.platform.delivery.decide.signature import signed_headers
from abacus.platform.delivery.types import Said
from abacus.platform.encryption import Secrets

TEST_TYPE: Final = "abacus.test"


class Trial(NamedTuple):
    """The outcome: the id of the message, the status of the answer, the fault if there is one, and the seconds that it
    took.
    """

    message_id: str
    status: int | None
    fault: str | None
    seconds: float


async def try_downstream(signed: Signed, poster: Post, secrets: Secrets, clock: Clock) -> Trial:
    """A webhook gets a message about nothing; a service is asked about no event. Raises `Refused` for one of our own,
    and `SecretUnreadable`.
    """
    downstream, now = signed.downstream, clock.now()
    if downstream.url is None:
        raise Refused(f"{downstream.name} is one of our own: there is nothing to send to")
    service = downstream.service
    if service is None:
        body = orjson.dumps({"type": TEST_TYPE, "timestamp": now, "data": {"webhook": downstream.name}})
    else:
        body = question(downstream.name, [], now)
    message_id = f"msg_test_{random_secrets.token_hex(12)}"
    headers = signed_headers(await valid_secrets(secrets, signed), message_id, int(now.timestamp()), body)
    within_s = None if service is None else service.within.total_seconds()
    began = time.perf_counter()
    reply = await poster.post(downstream.url, headers, body, within_s=within_s)
    seconds = time.perf_counter() - began
    fault = None if reply.said is Said.ACCEPTED else reply.detail
    if fault is None and service is not None:
        try:
            read_answer(reply.body, service.answers, 0)
        except NoAnswer as error:
            fault = str(error)
    return Trial(message_id, reply.status, fault, seconds)
