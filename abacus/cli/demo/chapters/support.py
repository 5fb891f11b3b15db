"""Support adds points by hand: a few each month, and many once, which wait for a second person."""

from typing import Final

from abacus.cli.demo.story.chapter import Chapter
from abacus.intake.partners.orders import AdjustmentOrder, adjustment_of, target_of
from abacus.ledger.store.read import LedgerReader
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore
from abacus.programs.expiry.decide.month import Month

_SMALL: Final = (("eve", 150, "An apology for a driver who did not come"), ("jane", 40, "An order that was cold"))
_LARGE: Final = ("bob", 12_000, "Points of an account that he had closed by mistake")


class Support(Chapter):
    """Sid adds them."""

    async def month_ended(self, month: Month) -> None:
        for member_id, points, reason in _SMALL:
            await self._adjust(member_id, points, reason, f"{month}-{member_id}")

    async def end(self) -> None:
        await self._adjust(*_LARGE, "closed-by-mistake")

    async def _adjust(self, member_id: str, points: int, reason: str, key: str) -> None:
        at = self.house.at("sid")
        order, book = AdjustmentOrder(points=points, reason=reason), CardBook(await CardStore(at.pool).all())
        accounts = await LedgerReader(at.pool).accounts(member_id)
        if not accounts:  # the member has bought nothing yet
            return
        target = target_of(member_id, order, accounts, book, at.clock.now())
        await self.house.moves.do(adjustment_of(order, target, f"adjust:{key}", at.actor.agent, at.clock.now()))
