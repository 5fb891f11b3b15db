"""A redemption: its stages, and the movements of points that belong to it. Pure.

opened → taken → given | sent → fulfilled, or releasing → refused. Of what was given or sent, cancelling → cancelled and
returning → returned. Every stage between others is gone on from by whoever finds it.
"""

from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.ids import award_id, fingerprint
from abacus.core.sources import campaign_of
from abacus.ledger.types.movement import Because, Capture, Release, Reserve, Reversal
from abacus.pricing.decide.card import Expiry, PublishedCard
from abacus.programs.expiry.decide.month import last_good_day


class Stage(StrEnum):
    """Where a redemption stands."""

    OPENED = "opened"  # its points are held, or about to be
    TAKEN = "taken"  # stock and codes are taken
    RELEASING = "releasing"  # it is refused, and its points are let go
    REFUSED = "refused"
    GIVEN = "given"  # the points are paid, and the member has the code
    SENT = "sent"  # the points are paid, and the fulfiller is called
    FULFILLED = "fulfilled"
    CANCELLING = "cancelling"  # points come back; the piece was never had
    CANCELLED = "cancelled"
    RETURNING = "returning"  # points come back; the piece was had
    RETURNED = "returned"


UNFINISHED: Final = (Stage.OPENED, Stage.TAKEN, Stage.RELEASING, Stage.CANCELLING, Stage.RETURNING)
PAID: Final = (Stage.GIVEN, Stage.SENT, Stage.FULFILLED)
USING: Final = (Stage.TAKEN, *PAID, Stage.CANCELLING, Stage.RETURNING, Stage.RETURNED)  # they count against limits
LATE: Final = "late"  # what people see of one that was sent, and not reported in time
_PENDING: Final = "pending"

# How long points may stay held while a redemption is gone on with.
HELD_FOR_DAYS: Final = 1


class Redemption(NamedTuple):
    """A row. `day` is the day of the reward's zone on which it was asked for; `late_at` is there for one that a
    fulfiller reports on. It may be delivered as a code of the `pool`, by the `webhook`, as an invitation to the
    `offer`, or as `award_points` of the `award_program`. A redemption that a campaign gave has no points.
    """

    key: str
    redemption_id: UUID
    fingerprint: str
    member_id: str
    program: str
    country: str
    reward: str
    version: int
    quantity: int
    points: int
    money: Decimal
    day: date
    pool: str | None
    webhook: str | None
    partner: str | None
    late_at: datetime | None
    offer: str | None
    award_program: str | None
    award_points: int | None
    actor: str
    source: str
    stage: str
    reason: str | None
    detail: str | None
    asked_at: datetime
    changed_at: datetime

    def status(self, now: datetime) -> str:
        """As callers see it."""
        if self.stage in UNFINISHED:
            return _PENDING
        if self.stage == Stage.SENT and self.late_at is not None and self.late_at <= now:
            return LATE
        return self.stage

    @property
    def campaign(self) -> str | None:
        """The campaign that gave it; None where a caller asked for it."""
        return campaign_of(self.source)

    @property
    def ended(self) -> bool:
        return self.stage not in UNFINISHED


def redemption_id(key: str) -> UUID:
    """Known before it is opened, because it depends on the key alone."""
    return award_id(f"redemption:{key}")


def facts_of(member_id: str, reward: str, quantity: int, points: int | None) -> str:
    """Equal keys with other facts are a conflict. The price is none of the facts: the first one stands."""
    return fingerprint(("redemption", member_id, reward, str(quantity), "" if points is None else str(points)))


def hold_of(each: Redemption, until: datetime) -> Reserve:
    facts = fingerprint(("redemption-hold", str(each.redemption_id), str(each.points)))
    return Reserve(
        key=_key(each, "hold"),
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        fingerprint=facts,
        points=each.points,
        reason=f"reward {each.reward}",
        actor=each.actor,
        source=each.source,
        hold_id=each.redemption_id,
        until=until,
    )


def capture_of(each: Redemption) -> Capture:
    return Capture(
        key=_key(each, "capture"),
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        fingerprint=fingerprint(("redemption-capture", str(each.redemption_id))),
        points=None,
        actor=each.actor,
        source=each.source,
        hold_id=each.redemption_id,
    )


def release_of(each: Redemption) -> Release:
    return Release(
        key=_key(each, "release"),
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        fingerprint=fingerprint(("redemption-release", str(each.redemption_id))),
        actor=each.actor,
        source=each.source,
        hold_id=each.redemption_id,
        because=Because.RELEASED,
    )


def reversal_of(each: Redemption, card: PublishedCard, now: datetime) -> Reversal:
    """The points come back with the days that they had."""
    return Reversal(
        key=_key(each, "back"),
        member_id=each.member_id,
        program=each.program,
        country=each.country,
        fingerprint=fingerprint(("redemption-back", str(each.redemption_id))),
        reverses=_key(each, "capture"),
        part=None,
        on_shortfall=card.card.on_shortfall,
        card=card.name,
        reason=f"reward {each.reward} {'cancelled' if each.stage == Stage.CANCELLING else 'returned'}",
        actor=each.actor,
        source=each.source,
        occurred_at=now,
        expires_on=last_good_day(now, card.card.zone, card.card.expiry_months),
        lifetime=card.card.expiry is Expiry.LIFETIME,
    )


def _key(each: Redemption, what: str) -> str:
    return f"redemption:{each.redemption_id}:{what}"
