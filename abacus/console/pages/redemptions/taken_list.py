"""Who took an offer, or a reward: the newest first, by state."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final
from uuid import UUID

from abacus.console.pages.offers.offer_pages import PAGES as OFFER_PAGES
from abacus.console.pages.redemptions.taken_row import TakenRow, row_of_offer, row_of_reward
from abacus.console.pages.rewards.reward_pages import PAGES as REWARD_PAGES
from abacus.console.web.calls import Call
from abacus.console.web.cursor import Rows, place_of, rows_of
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.engage.offers.decide.reservation import ReservationStatus
from abacus.engage.offers.taken_reader import TakenReader
from abacus.engage.rewards.decide.place import Place
from abacus.engage.rewards.decide.redemption import UNFINISHED, Stage
from abacus.engage.rewards.redemption_reader import RedemptionReader

_MOST: Final = 50


class RewardState(StrEnum):
    """The states of redemptions of rewards, as people see them."""

    PENDING = "pending"
    LATE = "late"
    GIVEN = "given"
    SENT = "sent"
    FULFILLED = "fulfilled"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    RETURNED = "returned"


@dataclass(frozen=True, kw_only=True)
class TakenPage(Page):
    """What was taken of one document, by all its versions."""

    template: ClassVar[str] = "taken.html"
    word: str
    name: str
    path: str
    chosen: str | None
    states: Sequence[str]
    list: Part[Rows[TakenRow]]


async def of_offer(call: Call) -> TakenPage:
    offer = (await OFFER_PAGES.history(call))[-1].document
    chosen = call.chosen("state", ReservationStatus)
    return TakenPage(
        title=f"Who took {offer.name}",
        word="offer",
        name=offer.name,
        path=f"/offers/{offer.name}",
        chosen=chosen,
        states=[*ReservationStatus],
        list=await call.part(_of_offer(call, offer.name, chosen)),
    )


async def of_reward(call: Call) -> TakenPage:
    reward = (await REWARD_PAGES.history(call))[-1].document
    chosen = call.chosen("state", RewardState)
    return TakenPage(
        title=f"Who redeemed {reward.name}",
        word="reward",
        name=reward.name,
        path=f"/rewards/{reward.name}",
        chosen=chosen,
        states=[*RewardState],
        list=await call.part(_of_reward(call, reward.name, chosen)),
    )


async def _of_offer(call: Call, name: str, status: str | None) -> Rows[TakenRow]:
    after = place_of(call, UUID)
    found = await TakenReader(call.reading.pool).of_offer(name, _MOST + 1, status=status, after=after)
    rows = rows_of(call, found, _MOST, lambda each: each.place)
    return Rows([row_of_offer(each, call.now) for each in rows.rows], rows.more)


async def _of_reward(call: Call, name: str, state: RewardState | None) -> Rows[TakenRow]:
    reader, after = RedemptionReader(call.reading.pool), place_of(call, UUID)
    found = await reader.of_reward(
        name,
        _MOST + 1,
        now=call.now,
        stages=_stages(state),
        is_late=_is_late(state),
        after=Place(*after) if after else None,
    )
    rows = rows_of(call, found, _MOST, lambda each: (each.asked_at, each.redemption_id))
    return Rows([row_of_reward(each, call.now) for each in rows.rows], rows.more)


def _stages(state: RewardState | None) -> Sequence[str] | None:
    match state:
        case None:
            return None
        case RewardState.PENDING:
            return UNFINISHED
        case RewardState.LATE:
            return [Stage.SENT]
        case _:
            return [state]


def _is_late(state: RewardState | None) -> bool | None:
    """A late redemption was sent, too; a redemption that is only sent is not late yet."""
    return {RewardState.LATE: True, RewardState.SENT: False}.get(state) if state is not None else None
