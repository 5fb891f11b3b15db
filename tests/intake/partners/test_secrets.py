"""Partners' secrets in Postgres: encrypted under a key that is not there, bound to their row, changed with the key."""

from datetime import timedelta
from typing import Final

import pytest
from structlog.testing import capture_logs

from abacus.core.clock import SystemClock
from abacus.core.errors import Refused, Unavailable
from abacus.intake.partners.decide.partner import new_signing_secret
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.store import SECRET_COLUMNS, PartnerStore
from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.encryption import Secrets, SecretUnreadable, new_keyring_text
from abacus.platform.postgres import Pool
from abacus.platform.secret_rotation import rewrap
from tests.support.hooks import award, partner, post_and_enter, sending, settled
from tests.support.receiver import receiving

pytestmark = pytest.mark.once

OLD, NEW = new_keyring_text("k1"), new_keyring_text("k2")
CLOCK: Final = SystemClock()
STORED: Final = """
select array_agg(secret order by secret) from (
    select signing_secret from partner union all select secret from webhook union all select former_secret from webhook
) as stored (secret) where secret is not null
"""


async def made(pool: Pool, name: str, secrets: Secrets) -> tuple[str, str, str]:
    """A partner that signs, with a webhook whose secret was replaced; its three secrets."""
    await partner(pool, name, "https://hooks.example/")
    signing, former, current = new_signing_secret(), new_secret(), new_secret()
    await PartnerStore(pool, CLOCK, secrets).sign(name, signing)
    webhooks = WebhookStore(pool, CLOCK, secrets)
    await webhooks.rotate_secret(name, former, overlap=timedelta(0))
    await webhooks.rotate_secret(name, current, overlap=timedelta(hours=1))
    return signing, current, former


async def read(pool: Pool, name: str, secrets: Secrets) -> tuple[str | None, ...]:
    (registered,) = [each for each in await PartnerStore(pool, CLOCK).all() if each.partner.partner_id == name]
    receiver = await WebhookStore(pool, CLOCK, secrets).receiver(name)
    return (await SigningSecrets(secrets).of(registered.partner), *receiver.secrets)


async def test_the_database_holds_no_secret_as_it_is(pool: Pool) -> None:
    secrets = Secrets.of(OLD)
    given = await made(pool, "acme", secrets)
    assert all(each.startswith("enc:v1:k1:") for each in await pool.fetchval(STORED))
    assert await read(pool, "acme", secrets) == given


async def test_a_rotation_of_the_key(pool: Pool) -> None:
    """Readable, then under a key, then under the next; each time the secrets from before stay readable."""
    given = {
        name: await made(pool, name, secrets) for name, secrets in (("acme", Secrets()), ("bits", Secrets.of(OLD)))
    }
    first, both, last = Secrets.of(OLD), Secrets.of(f"{NEW},{OLD}"), Secrets.of(NEW)
    assert {name: await read(pool, name, first) for name in given} == given
    assert await rewrap(pool, first, SECRET_COLUMNS) == (3, 3, [])
    assert await rewrap(pool, first, SECRET_COLUMNS) == (0, 6, [])
    assert {name: await read(pool, name, both) for name in given} == given
    assert await rewrap(pool, both, SECRET_COLUMNS) == (6, 0, [])
    assert {name: await read(pool, name, last) for name in given} == given
    with pytest.raises(Refused, match="ABACUS_SECRETS_KEY is not set"):
        await rewrap(pool, Secrets(), SECRET_COLUMNS)


async def test_a_ciphertext_serves_no_other_partner_and_no_other_column(pool: Pool) -> None:
    secrets = Secrets.of(OLD)
    await made(pool, "acme", secrets)
    await made(pool, "bits", secrets)
    await pool.execute("update partner p set signing_secret = o.signing_secret from partner o where p <> o")
    await pool.execute("update webhook set secret = former_secret where partner_id = 'acme'")
    for registered in await PartnerStore(pool, CLOCK).all():
        with pytest.raises(Unavailable, match="secrets"):
            await SigningSecrets(secrets).of(registered.partner)
    with pytest.raises(SecretUnreadable, match="secret of acme"):
        await WebhookStore(pool, CLOCK, secrets).receiver("acme")
    changed, current, unreadable = await rewrap(pool, Secrets.of(f"{NEW},{OLD}"), SECRET_COLUMNS)
    assert (changed, current, len(unreadable)) == (3, 0, 3)


async def test_who_lost_the_key_makes_a_new_secret(pool: Pool) -> None:
    await made(pool, "acme", Secrets.of(OLD))
    secrets, secret = Secrets.of(NEW), new_secret()
    webhooks = WebhookStore(pool, CLOCK, secrets)
    with pytest.raises(SecretUnreadable, match="has no key 'k1'"):
        await webhooks.rotate_secret("acme", secret, overlap=timedelta(hours=1))
    await webhooks.rotate_secret("acme", secret, overlap=timedelta(0))
    assert (await webhooks.receiver("acme")).secrets == (secret,)
    await PartnerStore(pool, CLOCK, secrets).sign("acme", "abs_new")
    assert await read(pool, "acme", secrets) == ("abs_new", secret)


async def test_messages_wait_for_a_secret_that_cannot_be_read_and_others_go_on(pool: Pool) -> None:
    secrets = Secrets.of(OLD)
    async with receiving() as receiver:
        for name in ("acme", "bits"):
            await partner(pool, name, receiver.url)
        mine = new_secret()
        await WebhookStore(pool, CLOCK, secrets).rotate_secret("acme", mine, overlap=timedelta(0))
        await WebhookStore(pool, CLOCK, Secrets.of(NEW)).rotate_secret("bits", new_secret(), overlap=timedelta(0))
        await post_and_enter(pool, award("api:acme:1"), award("api:bits:1"))
        async with sending(pool, secrets=secrets):
            await settled(pool, "delivered_at", 1)
            await settled(pool, "last_error", 1)
        assert [request.is_signed_with(mine) for request in receiver.requests] == [True]
        why = await pool.fetchval("select last_error from webhook_delivery where partner_id = 'bits'")
        assert why == "secret of bits (webhook) cannot be read: ABACUS_SECRETS_KEY has no key 'k2'"
        assert await pool.fetchval("select given_up_at from webhook_delivery where partner_id = 'bits'") is None


async def test_a_signing_secret_that_cannot_be_read_is_said_once(pool: Pool) -> None:
    await made(pool, "acme", Secrets.of(OLD))
    reader = SigningSecrets(Secrets.of(NEW))
    (registered,) = await PartnerStore(pool, CLOCK).all()
    with capture_logs() as logs:
        for _ in range(3):
            with pytest.raises(Unavailable, match="the signing secret of this partner cannot be read now"):
                await reader.of(registered.partner)
    assert logs == [
        {
            "log_level": "error",
            "event": "requests of this partner are refused",
            "partner": "acme",
            "why": "signing_secret of acme (partner) cannot be read: ABACUS_SECRETS_KEY has no key 'k1'",
        }
    ]
