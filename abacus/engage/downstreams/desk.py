"""What people do with downstreams: published, tried, retired and given other secrets here, with the log."""

import secrets as random_secrets
import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import orjson

from abacus.core.clock import Clock
from abacus.core.errors import Refused
from abacus.documents.desk import DocumentDesk
from abacus.documents.types import Difference, DraftOutcome, Record
from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.engage.downstreams.decide.question import NoAnswer, question, read_answer
from abacus.engage.downstreams.kind import DOWNSTREAMS, Allowed
from abacus.engage.downstreams.services import Post
from abacus.engage.downstreams.store import ByName, DownstreamStore, Signed, valid_secrets
from abacus.people.types.person import Actor
from abacus.platform.delivery.decide.signature import new_secret, signed_headers
from abacus.platform.delivery.types import Said
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Also, Connection, Pool, nothing_else, together

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


class DownstreamDesk(DocumentDesk[Downstream, Allowed]):
    """Rights are checked by the caller."""

    def __init__(self, pool: Pool, clock: Clock, allowed: Allowed, secrets: Secrets) -> None:
        super().__init__(pool, clock, DOWNSTREAMS, allowed.look)
        self._downstreams = DownstreamStore(pool, secrets)
        self._secrets = secrets

    async def publish(self, differences: Sequence[Difference[Downstream]], by: Actor) -> list[DraftOutcome[Downstream]]:
        """As for every kind; the outcome tells the secret of a new downstream, once."""
        told: dict[str, str] = {}

        async def give(connection: Connection) -> None:
            for draft in (each.draft for each in differences):
                secret = new_secret()
                if await self._downstreams.give_secret(connection, draft, secret):
                    told[draft.name] = secret

        outcomes = await self._publish(differences, by, give)
        return [each._replace(told={"secret": told.get(each.document.name)}) for each in outcomes]

    async def signed(self) -> ByName:
        """The latest version of each downstream by its name, with its secrets; retired ones among them."""
        return {each.downstream.name: each for each in await self._downstreams.signed(self.now())}

    async def test(self, name: str, poster: Post) -> tuple[Downstream, Trial]:
        """Sends a downstream one message, and says what came of it. Raises `SecretUnreadable`."""
        signed = (await self.signed()).get(name)
        if signed is None or signed.downstream.retired:
            raise self.kind.unknown(name)
        return signed.downstream, await try_downstream(signed, poster, self._secrets, self._clock)

    async def retire(self, name: str, by: Actor, *, also: Also = nothing_else) -> Record[Downstream]:
        """From now on nothing is sent to it and nothing is asked of it."""
        also = together(self.logged(name, None, by, did="retire"), also)
        return await self._downstreams.retire(name, by=by.source, now=self.now(), also=also)

    async def rotate_secret(
        self, name: str, overlap: timedelta, by: Actor, *, also: Also = nothing_else
    ) -> tuple[str, datetime]:
        """A new secret, and until when the one before signs too."""
        secret, hours = new_secret(), overlap / timedelta(hours=1)
        also = together(self.logged(name, None, by, did="rotate-secret", overlap_hours=hours), also)
        return secret, await self._downstreams.rotate_secret(name, secret, overlap=overlap, now=self.now(), also=also)
