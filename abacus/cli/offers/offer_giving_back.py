"""`abacus offers release` and `rollback`: what was taken of an offer goes back, also where a partner took it."""

from typing import Annotated
from uuid import uuid4

import typer

from abacus.api.offers.taken import RollbackOrder, micros_of
from abacus.cli.members.points import ordered
from abacus.cli.offers.takings import Reason, RedemptionId, ReservationId, found, logged, redeemed, reserved
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import actor
from abacus.cli.terminal.known import checked_reason
from abacus.engage.offers.decide.settlement import Releasing, RollingBack
from abacus.engage.offers.till_wiring import offer_returns
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore


async def release_offer(reservation: ReservationId, reason: Reason) -> Answer:
    """Release what is held: the use and its money are free again at once."""
    why = checked_reason(reason)
    async with actor() as at:
        taken = await found(at, "reservation", reservation)
        await at.begins(**logged(taken, "release", reason=why))
        settled = await offer_returns(at.pool, at.clock).release(Releasing(reservation, taken.caller))
    return reserved(settled.reservation, replayed=settled.replayed)


async def roll_back_offer(
    redemption: RedemptionId,
    reason: Reason,
    saves: Annotated[
        str | None,
        typer.Option(metavar="AMOUNT", help="How much of the money; else all that is left, and the points."),
    ] = None,
    key: Annotated[
        str | None, typer.Option(help="A part that is rolled back under the same key again counts once.")
    ] = None,
) -> Answer:
    """Roll a redemption back: the money is free for the offer's limits, the use when all is rolled back. Points are
    taken back as those of a refund are.
    """
    order, why = ordered(RollbackOrder, saves=saves), checked_reason(reason)
    async with actor() as at:
        taken = await found(at, "redemption", redemption)
        card = CardBook(await CardStore(at.pool).all()).in_force(taken.country, at.clock.now())
        money = None if order.saves is None else micros_of(order.saves)
        rolling = RollingBack(redemption, taken.caller, f"ops:{key or uuid4()}", money, card)
        also = at.does(**logged(taken, "roll-back", reason=why))
        return redeemed(await offer_returns(at.pool, at.clock).roll_back(rolling, taken.reservation_id, also=also))
