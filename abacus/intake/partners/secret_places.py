"""Where the secrets of partners are stored."""

from abacus.platform.encryption import Place


def signing_secret_of(partner_id: str) -> Place:
    return Place("partner", "signing_secret", partner_id)


def webhook_secret_of(partner_id: str) -> Place:
    return Place("webhook", "secret", partner_id)


def former_webhook_secret_of(partner_id: str) -> Place:
    return Place("webhook", "former_secret", partner_id)
