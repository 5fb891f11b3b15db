"""A partner that awards and spends points over HTTP each week, within its limits; some of its requests are refused."""

import asyncio
from datetime import date, timedelta
from typing import Any, Final

import httpx

from abacus.cli.demo.counter import asked, partner_at
from abacus.cli.demo.demo_partner import demo_partner
from abacus.cli.demo.story.chapter import Chapter
from abacus.cli.demo.story.house import House
from abacus.intake.partners.decide.partner import LIVE_KEY
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.types.limits import Limits
from abacus.people.types.deed import Deed

ACME: Final = "acme"
_LIMITS: Final = Limits(per_award=500, per_member_day=1_000, per_day=3_000, in_total=100_000)
_COMES_ON: Final = 3  # the weekday
_DAILY_SINCE: Final = timedelta(days=3)  # requests are kept for a week


class PartnerRequests(Chapter):
    """What acme asked for, and what it was answered."""

    async def begin(self) -> None:
        at, key = self.house.at("olga"), LIVE_KEY.new()
        made = demo_partner(ACME, "Acme", ["SG", "TH"], at, awards=True)
        also = at.does(Deed.EDIT_PARTNERS, f"partner:{ACME}", did="create", limits=_LIMITS._asdict())
        await PartnerStore(at.pool, at.clock).create(made, _LIMITS, key, also=also)
        self.house.keys[ACME] = key.text

    async def day(self, day: date) -> None:
        if day.weekday() != _COMES_ON and self.house.today - day > _DAILY_SINCE:
            return
        rng, orders = self.house.rng, list[tuple[str, dict[str, Any], str]]()
        for number, country in enumerate(("SG", "SG", "TH", "ID", "SG", "SG")):
            member, points = f"{country.lower()}-{1001 + rng.randrange(90)}", rng.choice((50, 100, 150, 600))
            award = {"member_id": member, "country": country, "points": points, "reason": "A week with Acme"}
            orders.append(("/v1/awards", award, f"week-{day}-{number}"))
        for number in range(6):
            member = f"sg-{1001 + rng.randrange(90)}"
            spend = {"points": rng.choice((200, 400, 800)), "reason": "A voucher of Acme"}
            orders.append((f"/v1/members/{member}/spend", spend, f"voucher-{day}-{number}"))
        async with at_the_api(self.house) as acme:
            await asyncio.gather(*(asked(acme, path, order, key=key) for path, order, key in orders))


def at_the_api(house: House) -> httpx.AsyncClient:
    """Acme, with its key."""
    return partner_at(house.settings.api_host, house.settings.api_port, house.keys[ACME])
