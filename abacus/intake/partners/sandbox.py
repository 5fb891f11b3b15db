"""Test keys of partners: made and found in the sandbox, with the rights that the partner has in the live ledger."""

from typing import NamedTuple

from abacus.intake.partners.decide.partner import TEST_KEY, Partner, new_signing_secret
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.decide.allowance import Allowance
from abacus.platform.postgres import Also


class SandboxDirectory:
    """Finds the partner of a test key. Rights, and whether it is disabled, are the live partner's; keys, limits and the
    signing secret are the sandbox's own.
    """

    def __init__(self, own: Directory, live: Directory) -> None:
        self._own = own
        self._live = live

    async def find(self, text: str) -> Partner | None:
        """The partner of this test key, or None. Raises `Unavailable` when no partners were ever read."""
        known = await self._own.find(text)
        live = await self._live.partner(known.partner_id) if known is not None else None
        if known is None or live is None or live.disabled_at is not None:
            return None
        return live._replace(signing_secret=known.signing_secret)

    def allowance(self, partner_id: str) -> Allowance:
        return self._own.allowance(partner_id)


class TestAccess(NamedTuple):
    """A new test key, and the secret that signs its requests if the partner signs."""

    key: str
    signing_secret: str | None


async def new_test_access(live: PartnerStore, sandbox: PartnerStore, partner_id: str, *, also: Also) -> TestAccess:
    """Makes a test key with the limits that the partner has now; its earlier test keys end. `also` writes the entry of
    the sandbox's log. Raises `Refused` for an unknown partner.
    """
    partner, _, allowance = await live.get(partner_id)
    key, secret = TEST_KEY.new(), new_signing_secret() if partner.signing_secret is not None else None
    await sandbox.replace(partner._replace(card_scope=None, signing_secret=secret), allowance.limits, key, also=also)
    return TestAccess(key.text, secret)
