"""For whom the rules of campaigns look values up."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from abacus.engage.campaigns.decide.campaign import Campaign
from abacus.ledger.types.account import AccountId
from abacus.signals.events.types import Event, Position
from abacus.signals.rules.decide.types import Side


class Subject(NamedTuple):
    """A member in a campaign, and the program of the campaign's country. `position` is that of the event; None for one
    that comes from no topic, or did so long ago. It `follows` where an event of the member before it is decided for the
    campaign in the same transaction.
    """

    campaign: Campaign
    member_id: str
    program: str
    position: Position | None = None
    follows: bool = False

    @property
    def account(self) -> AccountId:
        return self.member_id, self.program


Wishes: TypeAlias = Sequence[tuple[Subject, Event, Side]]
