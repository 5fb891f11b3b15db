"""Reservations and redemptions by their whole id."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from abacus.console.pages.redemptions.taken_row import TakenRow, row_of_offer, row_of_reward
from abacus.console.pages.search.finder import Finder, Found
from abacus.console.web.calls import Call
from abacus.engage.offers.taken_reader import TakenReader
from abacus.engage.rewards.redemption_reader import RedemptionReader
from abacus.people.types.deed import Deed


async def _redemptions(call: Call, text: str, _: int) -> Sequence[Found]:
    try:
        id_ = UUID(text.removeprefix("redemption:"))
    except ValueError:
        return ()
    pool, row = call.reading.pool, None
    if (offer := await TakenReader(pool).one(id_)) is not None:
        row = row_of_offer(offer, call.now)
    elif (reward := await RedemptionReader(pool).of_id(id_)) is not None:
        row = row_of_reward(reward, call.now)
    return [_found(row)] if row is not None and call.may(Deed.SEE, row.country) else ()


def _found(row: TakenRow) -> Found:
    detail = f"{row.state}, {row.gives or 'nothing'}, {row.member_id}, {row.country}"
    return Found("redemption", row.id, f"{row.kind} {row.name}", detail, exact=True)


REDEMPTIONS: Final = Finder("Reservations and redemptions", _redemptions)
