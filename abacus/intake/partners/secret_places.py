"""Where the secrets of partners are stored."""

from typing import Final

from abacus.platform.encryption import SecretPlace
from abacus.platform.secret_rotation import SecretColumn


def signing_secret_of(partner_id: str) -> SecretPlace:
    return SecretPlace("partner", "signing_secret", partner_id)


def webhook_secret_of(partner_id: str) -> SecretPlace:
    return SecretPlace("webhook", "secret", partner_id)


def former_webhook_secret_of(partner_id: str) -> SecretPlace:
    return SecretPlace("webhook", "former_secret", partner_id)


SECRET_COLUMNS: Final = tuple(
    SecretColumn(place, "partner_id") for place in (signing_secret_of, webhook_secret_of, former_webhook_secret_of)
)
