"""What a member took, of an offer or of a reward, as lists and pages show it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from abacus.engage.limits.types import MICROS
from abacus.engage.offers.taken_reader import TakenOffer
from abacus.engage.rewards.decide.redemption import LATE, Redemption

_OFFER: Final = "offer"
_REWARD: Final = "reward"


@dataclass(frozen=True)
class TakenRow:
    """A reservation or a redemption. `gives` is what the member has, or paid, by it; `back` is what came back of that.
    A redemption that is `late` waits for a fulfiller who has not reported in time.
    """

    id: str
    kind: str
    name: str
    version: int
    country: str
    member_id: str
    state: str
    is_late: bool
    gives: str
    back: str
    at: datetime
    why: str | None
    by: str


def row_of_offer(taken: TakenOffer, now: datetime) -> TakenRow:
    return TakenRow(
        id=str(taken.redemption_id or taken.reservation_id),
        kind=_OFFER,
        name=taken.offer,
        version=taken.version,
        country=taken.country,
        member_id=taken.member_id,
        state=taken.state(now).replace("_", " "),
        is_late=False,
        gives=_gain(taken.currency, taken.saves, taken.points),
        back=_gain(taken.currency, taken.saves_back, taken.points_back),
        at=taken.redeemed_at or taken.reserved_at,
        why=None,
        by=taken.caller,
    )


def row_of_reward(redemption: Redemption, now: datetime) -> TakenRow:
    state, points = redemption.status(now), f"{redemption.points:,} points"
    pieces = f"{redemption.quantity:,} for " if redemption.quantity > 1 else ""
    return TakenRow(
        id=str(redemption.redemption_id),
        kind=_REWARD,
        name=redemption.reward,
        version=redemption.version,
        country=redemption.country,
        member_id=redemption.member_id,
        state=state,
        is_late=state == LATE,
        gives=f"{pieces}{points}" + (f" and {redemption.money} in money" if redemption.money else ""),
        back=points if state in {"cancelled", "returned"} else "",
        at=redemption.asked_at,
        why=redemption.detail,
        by=redemption.source,
    )


def _gain(currency: str, saves: int, points: int) -> str:
    parts = [f"{currency} {saves / MICROS:,.2f}"] if saves else []
    return " and ".join([*parts, *([f"{points:,} points"] if points else [])])
