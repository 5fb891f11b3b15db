"""A partner that awards and spends points over HTTP each week, within its limits; some of its requests are refused."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final

import httpx

from abacus.cli.demo.story.chapter import Chapter
from abacus.core.errors import Unavailable
from abacus.core.tokens import NewToken
from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.types.deed import Deed

_ID: Final = "acme"
_LIMITS: Final = Limits(per_award=500, per_member_day=1_000, per_day=3_000, in_total=100_000)
_COMES_ON: Final = 3  # the weekday
_DAILY_SINCE: Final = timedelta(days=3)  # requests are kept for a week
_ANSWERED: Final = 500


class PartnerRequests(Chapter):
    """What acme asked for, and what it was answered."""

    async def begin(self) -> None:
        at, key = self.house.at("olga"), LIVE_KEY.new()
        made = Partner(
            partner_id=_ID,
            name="Acme",
            fixed_points=True,
            computed_points=True,
            countries=("SG", "TH"),
            card_scope=None,
            requests_per_minute=60_000,
            signing_secret=None,
            created_at=at.clock.now(),
            created_by=at.actor.source,
            disabled_at=None,
            may_spend=True,
        )
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{_ID}", did="create", limits=_LIMITS._asdict())
        await PartnerStore(at.pool, at.clock).create(made, _LIMITS, key, also=also)
        self._key: NewToken = key

    async def day(self, day: date) -> None:
        if day.weekday() != _COMES_ON and self.house.today - day > _DAILY_SINCE:
            return
        settings, rng = self.house.settings, self.house.rng
        url, headers = f"http://{settings.api_host}:{settings.api_port}", {"Authorization": f"Bearer {self._key.text}"}
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=20, verify=False) as acme:  # noqa: S501  # plain HTTP, on loopback
            for number, country in enumerate(("SG", "SG", "TH", "ID", "SG", "SG")):
                member, points = f"{country.lower()}-{1001 + rng.randrange(90)}", rng.choice((50, 100, 150, 600))
                award = {"member_id": member, "country": country, "points": points, "reason": "A week with Acme"}
                await _post(acme, "/v1/awards", f"week-{day}-{number}", award)
            for number in range(6):
                member = f"sg-{1001 + rng.randrange(90)}"
                spend = {"points": rng.choice((200, 400, 800)), "reason": "A voucher of Acme"}
                await _post(acme, f"/v1/members/{member}/spend", f"voucher-{day}-{number}", spend)


async def _post(client: httpx.AsyncClient, path: str, key: str, body: Mapping[str, Any]) -> None:
    """A refusal is an answer too."""
    answer = await client.post(path, json=body, headers={"Idempotency-Key": key})
    if answer.status_code >= _ANSWERED:
        raise Unavailable("API", f"{path}: {answer.status_code}")
