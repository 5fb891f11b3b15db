"""The secrets that partners sign their requests with, decrypted once and kept while they are the same."""

from typing import NamedTuple

import structlog

from abacus.core.errors import Unavailable
from abacus.intake.partners.decide.partner import Partner
from abacus.intake.partners.store import signing_secret_of
from abacus.platform.encryption import Secrets, SecretUnreadable

DEPENDENCY = "secrets"

log = structlog.get_logger(__name__)


class _Read(NamedTuple):
    """A stored secret, and the secret; None where it cannot be read."""

    stored: str
    secret: str | None


class SigningSecrets:
    """One for each process. A secret that cannot be read is said in the log once, and refuses its partner alone."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._read: dict[str, _Read] = {}

    async def of(self, partner: Partner) -> str | None:
        """None for a partner that need not sign. Raises `Unavailable` for a secret that cannot be read."""
        stored = partner.signing_secret
        if stored is None:
            return None
        read = self._read.get(partner.partner_id)
        if read is None or read.stored != stored:
            read = self._read[partner.partner_id] = await self._of(partner.partner_id, stored)
        if read.secret is None:
            raise Unavailable(DEPENDENCY, "the signing secret of this partner cannot be read now")
        return read.secret

    async def _of(self, partner_id: str, stored: str) -> _Read:
        try:
            return _Read(stored, await self._secrets.read(stored, signing_secret_of(partner_id)))
        except SecretUnreadable as fault:
            log.error("requests of this partner are refused", partner=partner_id, why=str(fault))  # noqa: TRY400  # one line, no traceback
            return _Read(stored, None)
