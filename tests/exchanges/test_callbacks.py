"""Callbacks of partners: what is signed is heard, as often as it comes; what is not is refused, and nothing follows."""

from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

import httpx
import orjson
import pytest

from abacus.api import exchange_callbacks
from abacus.api.auth import Access
from abacus.api.guarded_app import guarded_app
from abacus.core.errors import Unavailable
from abacus.exchanges.callbacks import Callbacks
from abacus.exchanges.decide.heard import Credited, Heard
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.webhooks.secrets import WebhookSecrets
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.ledger.types.limits import Limits
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.platform.delivery.decide.signature import BadSignature, new_secret, signed_headers
from abacus.platform.encryption import Secrets
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import BucketStore
from abacus.platform.rooms import Rooms
from tests.support.fixed_clock import FixedClock
from tests.support.logged import limits_logged
from tests.support.problems import kind

pytestmark = pytest.mark.once

NOW: Final = datetime(2026, 11, 28, 12, tzinfo=UTC)
CLOCK: Final = FixedClock(NOW)
SECRET: Final = new_secret()
ID: Final = UUID("3f6b1c9e-6a0b-4b1f-9a53-0d5d7f0c7a05")
CREDITED: Final = {"id": str(ID), "state": "credited", "amount": 2500, "reference": "PS17"}


class Listener:
    """Hears what partners say, unless its database is away."""

    def __init__(self) -> None:
        self.heard_so_far: list[tuple[str, UUID, Heard]] = []
        self.is_away = False

    async def heard(self, programme: str, exchange_id: UUID, heard: Heard) -> None:
        if self.is_away:
            raise Unavailable("database", "it is away")
        self.heard_so_far.append((programme, exchange_id, heard))


async def secrets_of(programme: str) -> Sequence[str]:
    return [new_secret(), SECRET] if programme == "skymiles" else []


def app(pool: Pool, *rooms: object) -> httpx.AsyncClient:
    limiter = RateLimiter(BucketStore(pool), CLOCK)
    access = Access(
        clock=CLOCK,
        directory=Directory(PartnerStore(pool, CLOCK), CLOCK),
        people=PeopleDirectory(PeopleStore(pool, CLOCK), CLOCK),
        signing_secrets=SigningSecrets(Secrets.of(None)),
        limiter=limiter,
        rooms=Rooms(*rooms),
    )
    served = guarded_app("Exchanges", "Callbacks.", [exchange_callbacks.router], access, Health([]), keys="none")
    return httpx.AsyncClient(transport=httpx.ASGITransport(served), base_url="http://house")


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
async def partner(pool: Pool, listener: Listener) -> AsyncIterator[httpx.AsyncClient]:
    async with app(pool, Callbacks(secrets_of, listener, CLOCK)) as caller:
        yield caller


def message(type_: str = "transfer.credited", **data: object) -> bytes:
    return orjson.dumps({"type": type_, "timestamp": NOW, "data": {**CREDITED, **data}})


async def told(
    partner: httpx.AsyncClient,
    body: bytes,
    *,
    programme: str = "skymiles",
    secret: str = SECRET,
    at: datetime = NOW,
) -> httpx.Response:
    headers = signed_headers([secret], "msg_1", int(at.timestamp()), body)
    return await partner.post(f"/v1/exchange-callbacks/{programme}", content=body, headers=headers)


async def test_what_a_partner_tells_is_heard_as_often_as_it_comes(
    partner: httpx.AsyncClient, listener: Listener
) -> None:
    for _ in range(2):
        assert (await told(partner, message())).status_code == 204
    assert listener.heard_so_far == 2 * [("skymiles", ID, Credited(2500, "PS17"))]


@pytest.mark.parametrize(
    "changed",
    [
        {"secret": new_secret()},
        {"at": NOW - timedelta(seconds=301)},
        {"at": NOW + timedelta(seconds=301)},
        {"programme": "unknown"},
    ],
)
async def test_a_signature_that_is_wrong_or_old_is_refused(
    partner: httpx.AsyncClient, listener: Listener, changed: dict[str, object]
) -> None:
    answer = await told(partner, message(), **changed)  # type: ignore[arg-type]  # as the cases say
    assert (answer.status_code, kind(answer)) == (401, "bad-signature")
    unsigned = await partner.post("/v1/exchange-callbacks/skymiles", content=message())
    assert (unsigned.status_code, kind(unsigned)) == (401, "bad-signature")
    assert listener.heard_so_far == []


async def test_what_the_contract_does_not_have_is_refused(partner: httpx.AsyncClient, listener: Listener) -> None:
    for body in (b"no", message("points.granted"), message(amount=-1), message(state="rejected")):
        answer = await told(partner, body)
        assert (answer.status_code, kind(answer)) == (400, "malformed")
    assert listener.heard_so_far == []


async def test_a_partner_tells_again_what_could_not_be_heard(partner: httpx.AsyncClient, listener: Listener) -> None:
    listener.is_away = True
    answer = await told(partner, message())
    assert (answer.status_code, kind(answer)) == (503, "unavailable")


async def test_no_other_route_is_open_without_a_key(pool: Pool) -> None:
    async with app(pool) as caller:
        for path in ("/v1/exchange-callbacks", "/v1/exchanges/x", "/v1/EXCHANGE-CALLBACKS/x"):
            answer = await caller.post(path)
            assert answer.status_code in {401, 404}
        assert (await told(caller, message())).status_code == 404  # no exchanges are open there


async def test_what_is_not_signed_now_makes_the_house_read_nothing(listener: Listener) -> None:
    async def never(_: str) -> Sequence[str]:
        raise AssertionError("secrets were read")

    callbacks, old = Callbacks(never, listener, CLOCK), int((NOW - timedelta(hours=1)).timestamp())
    for headers in ({}, signed_headers([SECRET], "msg_1", old, message())):
        with pytest.raises(BadSignature):
            await callbacks.take("skymiles", headers, message())


# --- The secrets that both share ---


async def test_the_secrets_of_a_partner_are_kept_for_some_seconds(pool: Pool) -> None:
    clock, now_s = FixedClock(NOW), [0.0]
    store = WebhookStore(pool, clock, Secrets.of(None))
    secrets = WebhookSecrets(store, clock_s=lambda: now_s[0])
    with pytest.raises(Unavailable, match="there is no webhook"):
        await secrets.of("acme")
    made = Partner("acme", "acme", True, True, (), None, 1000, None, NOW, "tests", None)  # noqa: FBT003  # as stored
    await PartnerStore(pool, clock).create(made, Limits(), LIVE_KEY.new(), also=limits_logged("acme"))
    first, second = new_secret(), new_secret()
    await store.set("acme", "https://hooks.example/", first)
    assert await secrets.of("acme") == (first,)
    await store.rotate_secret("acme", second, overlap=timedelta(hours=1))
    assert await secrets.of("acme") == (first,)
    now_s[0] = 5
    assert await secrets.of("acme") == (second, first)
