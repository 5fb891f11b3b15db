"""`abacus rewards cancel` and `return`: what a member redeemed comes back, also where a partner asked for it."""

from typing import Annotated, Final
from uuid import UUID

import typer

from abacus.api.redemption_answers import redemption_facts
from abacus.cli.terminal.answer import Answer
from abacus.cli.terminal.command_actor import CommandActor, actor
from abacus.cli.terminal.known import checked_reason
from abacus.core.errors import absent
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.redemption_desk import RedemptionDesk
from abacus.engage.rewards.redemption_reader import RedemptionReader
from abacus.engage.rewards.wiring import returns_desk
from abacus.ledger.store.moves import PostgresMoves
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also
from abacus.pricing.decide.book import CardBook
from abacus.pricing.store.cards import CardStore

_ID: Final = "Its id; `abacus members show --all` prints it."
RedemptionId = Annotated[
    UUID,
    typer.Argument(metavar="REDEMPTION", help=_ID, show_default=False),
]
Reason = Annotated[str, typer.Option(help="For the log.", show_default=False)]


async def cancel_redemption(redemption: RedemptionId, reason: Reason) -> Answer:
    """Cancel what the fulfiller has not delivered, or an invitation that is not used: points come back with the days
    that they had, and the piece is there for others.
    """
    async with actor() as at:
        of, also = await _found(at, redemption, "cancel", checked_reason(reason))
        return _told(await (await _desk(at)).cancel(of, also=also), at)


async def return_redemption(redemption: RedemptionId, reason: Reason) -> Answer:
    """Return what the member had: points come back with the days that they had; the piece and its code stay used."""
    async with actor() as at:
        of, also = await _found(at, redemption, "return", checked_reason(reason))
        return _told(await (await _desk(at)).bring_back(of, also=also), at)


async def _found(at: CommandActor, id_: UUID, did: str, reason: str) -> tuple[Redemption, Also]:
    """The redemption, and the entry of the log. Raises `Absent`, and `Refused` where the actor may not change it."""
    of = await RedemptionReader(at.pool).of_id(id_)
    if of is None:
        raise absent("redemption of a reward", id_)
    details = {"did": did, "of": of.reward, "redemption": id_.hex, "reason": reason}
    return of, at.does(Deed.MOVE_POINTS, f"member:{of.member_id}", country=of.country, **details)


async def _desk(at: CommandActor) -> RedemptionDesk:
    book = CardBook(await CardStore(at.pool).all())
    return returns_desk(at.pool, at.clock, PostgresMoves(at.pool, at.clock), lambda: book)


def _told(of: Redemption, at: CommandActor) -> Answer:
    told = redemption_facts(of, at.clock.now())
    said = f"redemption {of.redemption_id}: {of.reward}@{of.version} for {of.member_id} is {told['status']}"
    return Answer(told, f"{said}; {of.points} points are back")
