"""`abacus offers reserve` and `redeem`: what a shop does with offers, for support."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from abacus.api.offers.asked import items_of, spots_of
from abacus.api.offers.taken import (
    RedeemOrder,
    ReserveSeveralOrder,
    basket_of,
    facts_of,
    gain_told,
    micros_of,
    reader_of,
    reservation_told,
)
from abacus.cli.offers.asked_files import body_of, refusing
from abacus.cli.offers.counter import offer_counter
from abacus.cli.offers.takings import ReservationId, found, logged, redeemed, reserved_line
from abacus.cli.terminal.answer import Answer
from abacus.core.errors import Refused
from abacus.engage.offers.decide.basket import Item
from abacus.engage.offers.decide.reservation import GainChanged
from abacus.engage.offers.till import Order, Paying
from abacus.people.types.deed import Deed
from abacus.pricing.decide.card import PublishedCard

Body = Annotated[
    Path, typer.Argument(metavar="FILE", help="The API's body, in JSON; - is standard input.", show_default=False)
]
Key = Annotated[
    str | None, typer.Option(help="Doing it again under the same key does nothing more; a new one where not given.")
]


async def reserve_offers(file: Body, key: Key = None) -> Answer:
    """Hold offers for a member for some minutes, all of them or none. The file has `member_id`, `items` and `offers`,
    and `codes` where offers need them.
    """
    asked = body_of(file, ReserveSeveralOrder)
    basket = basket_of(asked.items)
    async with offer_counter() as counter:
        at, spots = counter.at, await spots_of(asked.items, counter.qualifier.spots)

        def checked(card: PublishedCard) -> Sequence[Item]:
            at.check(Deed.MOVE_POINTS, card.card.scope)
            return items_of(asked.items, card.card, spots)

        order = Order(
            caller=at.actor.source,
            key=f"reservation:ops:{key or uuid4()}",
            fingerprint=facts_of(asked, basket),
            member_id=asked.member_id,
            offers=asked.offers,
            codes=asked.codes,
            basket=basket,
            items_of=checked,
        )
        with refusing(file):
            held = await counter.till.reserve(order)
    document = {"reservations": [reservation_told(each) for each in held.reservations], "replayed": held.replayed}
    return Answer(document, *(reserved_line(each, replayed=held.replayed) for each in held.reservations))


async def redeem_offer(reservation: ReservationId, file: Body) -> Answer:
    """Redeem what is held, of whichever caller. The file has the `items` that are paid; where they gain something else
    than was reserved, its `saves` or `points` says that this is known.
    """
    asked = body_of(file, RedeemOrder)
    async with offer_counter() as counter:
        taken = await found(counter.at, "reservation", reservation)
        await counter.at.begins(**logged(taken, "redeem"))
        saves = None if asked.saves is None else micros_of(asked.saves)
        spots = await spots_of(asked.items, counter.qualifier.spots)
        basket, reader = basket_of(asked.items), reader_of(asked.items, spots)
        paying = Paying(reservation, taken.caller, basket, reader, saves, asked.points)
        try:
            with refusing(file):
                settled = await counter.till.redeem(paying)
        except GainChanged as fault:
            now = gain_told(fault.now)
            remedy = f"it saves {now['saves']} and gives {now['points']} points now; write that as saves or points"
            raise Refused(f"{fault}: {remedy}") from None
    assert settled.redemption is not None  # noqa: S101  # it was redeemed
    return redeemed(settled.redemption, replayed=settled.replayed)
