"""Setting a partner's webhook: its address is checked first, and its secret is made here and told once."""

from datetime import datetime, timedelta

from abacus.intake.partners.webhooks.store import WebhookStore
from abacus.platform.delivery.decide.addresses import checked_url
from abacus.platform.delivery.decide.signature import new_secret
from abacus.platform.postgres import Also, nothing_else


class WebhookDesk:
    """Every method raises `Refused` for what may not be, and `Unavailable` while the database is away. `to_private`:
    addresses that are not public may be posted to.
    """

    def __init__(self, store: WebhookStore, *, to_private: bool) -> None:
        self.store = store
        self._to_private = to_private

    def checked(self, url: str) -> str:
        """The address, as it is kept."""
        return checked_url(url, to_private=self._to_private)

    async def set(self, partner_id: str, url: str, *, also: Also = nothing_else) -> str | None:
        """Messages go to this checked address from now on. The secret that signs them, where the webhook is new; an
        existing one keeps its own.
        """
        fresh = new_secret()
        return fresh if await self.store.set(partner_id, url, fresh, also=also) else None

    async def rotate_secret(
        self, partner_id: str, overlap: timedelta, *, also: Also = nothing_else
    ) -> tuple[str, datetime]:
        """The new secret, and until when the one before signs too."""
        secret = new_secret()
        return secret, await self.store.rotate_secret(partner_id, secret, overlap=overlap, also=also)
