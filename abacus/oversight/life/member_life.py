"""The parts of a member's life, as values."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, TypeAlias

from abacus.engage.campaigns.progress_rows import MemberProgress
from abacus.engage.journeys.member_visits import MemberVisit
from abacus.engage.notify.notifications import MemberMessage
from abacus.engage.notify.withheld import Withheld
from abacus.engage.offers.taken_reader import TakenOffer
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.intake.partners.members import AccountAsOf
from abacus.ledger.types.movement import Hold
from abacus.oversight.life.decide.tier_progress import TierProgress
from abacus.oversight.life.decide.told import Told
from abacus.people.types.approval import Approval


class Away(NamedTuple):
    """A part that cannot be read now: what does not answer, and how."""

    dependency: str
    detail: str


class RemainingPoints(NamedTuple):
    """Points that remain of one award, with their last good day and the reason of the award in words."""

    program: str
    key: str
    kind: str
    points: int
    remaining: int
    expires_on: date | None
    why: Sequence[str]


@dataclass(frozen=True)
class Transfers:
    """Transfers, the newest first. `more` is where the list goes on; None behind the last."""

    rows: Sequence[Told]
    more: str | None


Accounts: TypeAlias = Sequence[AccountAsOf]


@dataclass(frozen=True)
class MemberLife:
    """Everything that support needs of a member, as far as its countries are open to the person who asks."""

    member_id: str
    accounts: Accounts | Away
    points: Sequence[RemainingPoints] | Away
    tiers: Sequence[TierProgress] | Away
    holds: Sequence[Hold] | Away
    transfers: Transfers | Away
    messages: Sequence[MemberMessage] | Away
    withheld: Sequence[Withheld] | Away
    campaigns: Sequence[MemberProgress] | Away
    journeys: Sequence[MemberVisit] | Away
    redemptions: Sequence[Redemption] | Away
    offers: Sequence[TakenOffer] | Away
    approvals: Sequence[Approval] | Away
