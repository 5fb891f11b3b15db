"""The secrets that the house shares with a partner, kept for a few seconds: they sign what is sent either way."""

import time
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from abacus.core.errors import Absent, Unavailable
from abacus.intake.partners.webhooks.trial import Receivers
from abacus.platform.encryption import SecretUnreadable

_KEPT_FOR_S: Final = 5.0
_DEPENDENCY: Final = "secrets"


class _Kept(NamedTuple):
    """The secrets, and until when they are not read again."""

    secrets: tuple[str, ...]
    until_s: float


class WebhookSecrets:
    """One for each process. While the database is away the secrets that were read last are used."""

    def __init__(self, receivers: Receivers, *, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._receivers = receivers
        self._clock_s = clock_s
        self._kept: dict[str, _Kept] = {}

    async def of(self, partner_id: str) -> Sequence[str]:
        """There are two while a secret is replaced, the new one first. Raises `Unavailable`, also where the partner has
        no webhook, or none whose secret can be read.
        """
        kept, now_s = self._kept.get(partner_id), self._clock_s()
        if kept is not None and now_s < kept.until_s:
            return kept.secrets
        try:
            secrets = (await self._receivers.receiver(partner_id)).secrets
        except (Absent, SecretUnreadable) as fault:
            self._kept.pop(partner_id, None)
            raise Unavailable(_DEPENDENCY, str(fault)) from None
        except Unavailable:
            if kept is None:
                raise
            secrets = kept.secrets
        self._kept[partner_id] = _Kept(secrets, now_s + _KEPT_FOR_S)
        return secrets
