"""The directory: the partner that a key belongs to, while the partners can be read and while they cannot."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from abacus.core.errors import Unavailable
from abacus.core.tokens import NewToken
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner, PartnerKey
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.store import Registered
from abacus.ledger.decide.allowance import Allowance
from abacus.ledger.types.limits import Limits
from tests.support.fixed_clock import FixedClock

pytestmark = pytest.mark.once

NOW: Final = datetime(2026, 6, 1, tzinfo=UTC)
ALLOWANCE: Final = Allowance(Limits(per_award=7), 0, NOW.date(), 0)


class Partners:
    """Partners in memory; the store can go away."""

    def __init__(self) -> None:
        self.registered: list[Registered] = []
        self.is_away = False
        self.reads = 0
        self.last_used: dict[str, datetime] = {}

    async def all(self, *, within_s: float) -> list[Registered]:
        assert within_s > 0
        self.reads += 1
        self._check()
        return list(self.registered)

    async def note_use(self, last_used: dict[str, datetime]) -> None:
        self._check()
        self.last_used |= last_used

    def _check(self) -> None:
        if self.is_away:
            raise Unavailable("database", "connection refused")

    def add(self, partner_id: str, *, expires_at: datetime | None = None, **changes: Any) -> NewToken:
        key = LIVE_KEY.new()
        partner = Partner(partner_id, partner_id.title(), True, True, (), None, 60, None, NOW, "ann", None)  # noqa: FBT003  # columns
        keys = [PartnerKey(key.prefix, partner_id, key.digest, NOW, expires_at, None)]
        self.registered.append(Registered(partner._replace(**changes), keys, ALLOWANCE))
        return key


async def test_a_key_finds_its_partner_also_when_it_was_made_a_moment_ago() -> None:
    partners = Partners()
    acme = partners.add("acme")
    directory = Directory(partners, FixedClock(NOW))
    partner = await directory.find(acme.text)
    assert partner is not None
    assert partner.partner_id == "acme"
    assert directory.allowance("acme") == ALLOWANCE
    other = partners.add("other")
    partner = await directory.find(other.text)
    assert partner is not None
    assert partner.partner_id == "other"
    assert partners.reads == 2
    await directory.find(acme.text)
    assert partners.reads == 2, "a key that is known is looked up in memory"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, True),
        ({"expires_at": NOW + timedelta(seconds=1)}, True),
        ({"expires_at": NOW}, False),
        ({"disabled_at": NOW}, False),
    ],
)
async def test_which_keys_open(*, changes: dict[str, Any], expected: bool) -> None:
    partners = Partners()
    key = partners.add("acme", **changes)
    assert (await Directory(partners, FixedClock(NOW)).find(key.text) is not None) is expected


async def test_nobody_is_behind_what_is_no_key_or_another() -> None:
    partners = Partners()
    key = partners.add("acme")
    directory = Directory(partners, FixedClock(NOW))
    assert await directory.find("no key") is None
    assert partners.reads == 0
    assert await directory.find(LIVE_KEY.new().text) is None
    assert await directory.find(key.text[:-1] + ("b" if key.text.endswith("a") else "a")) is None
    assert partners.last_used == {}


async def test_without_the_database_the_known_partners_are_served() -> None:
    partners = Partners()
    key = partners.add("acme")
    partners.is_away = True
    directory = Directory(partners, FixedClock(NOW))
    with pytest.raises(Unavailable, match="partners unavailable: database unavailable: connection refused"):
        await directory.find(key.text)
    partners.is_away = False
    assert await directory.find(key.text) is not None
    partners.is_away = True
    assert await directory.find(key.text) is not None
    assert await directory.find(LIVE_KEY.new().text) is None


async def test_the_last_use_is_kept_until_it_is_noted() -> None:
    partners = Partners()
    key, clock = partners.add("acme"), FixedClock(NOW)
    directory = Directory(partners, clock)
    await directory.find(key.text)
    partners.is_away = True
    with pytest.raises(Unavailable):
        await directory.note_use()
    partners.is_away = False
    await directory.note_use()
    assert partners.last_used == {key.prefix: NOW}
    partners.last_used = {}
    await directory.note_use()
    assert partners.last_used == {}
