"""The tellings of every kind, and how an approval is told by them."""

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from abacus.console.decide.told import Told, everything_of
from abacus.console.pages.approvals.telling import Telling
from abacus.console.pages.campaigns.campaign_telling import CAMPAIGN
from abacus.console.pages.contact.contact_telling import CONTACT
from abacus.console.pages.exchanges.exchange_telling import EXCHANGE
from abacus.console.pages.exchanges.programme_telling import PROGRAMME
from abacus.console.pages.finance.assumption_telling import ASSUMPTION
from abacus.console.pages.finance.close_telling import MONTH_CLOSE
from abacus.console.pages.journeys.journey_telling import JOURNEY
from abacus.console.pages.journeys.migration_telling import JOURNEY_MIGRATION
from abacus.console.pages.members.move_telling import ADJUSTMENT, REVERSAL
from abacus.console.pages.offers.offer_telling import OFFER
from abacus.console.pages.partners.limits_telling import LIMITS
from abacus.console.pages.places.region_telling import REGIONS
from abacus.console.pages.rates.card_telling import CARD
from abacus.console.pages.rewards.reward_telling import REWARD
from abacus.console.web.calls import Call
from abacus.core.errors import Refused
from abacus.people.types.approval import Approval, CannotExecute

# A capability whose deeds need a second person takes its place here.
TELLINGS: Final = (
    *(ADJUSTMENT, REVERSAL, CARD, CAMPAIGN, OFFER, REWARD, PROGRAMME, JOURNEY, JOURNEY_MIGRATION),
    *(CONTACT, REGIONS, LIMITS, ASSUMPTION, MONTH_CLOSE, EXCHANGE),
)
UNREADABLE: Final = (CannotExecute, Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class ListedApproval:
    """An approval in a list."""

    approval_id: UUID
    title: str
    noun: str
    country: str | None
    asked_by: str
    asked_at: datetime
    status: str
    decided_by: str | None


class Tellings:
    """Tells approvals, each by its kind."""

    def __init__(self, tellings: Iterable[Telling] = TELLINGS) -> None:
        self._tellings = {each.kind: each for each in tellings}

    def of(self, approval: Approval) -> Telling | None:
        return self._tellings.get(approval.kind)

    def title(self, approval: Approval) -> str:
        telling = self.of(approval)
        return _said(telling.title if telling else None, approval) or approval.summary

    def within_sentence(self, approval: Approval) -> str:
        """The title as it stands behind a verb."""
        telling, title = self.of(approval), self.title(approval)
        return _said(telling.within if telling else None, approval) or title[:1].lower() + title[1:]

    def listed(self, approval: Approval) -> ListedApproval:
        telling = self.of(approval)
        return ListedApproval(
            approval_id=approval.approval_id,
            title=self.title(approval),
            noun=telling.noun if telling is not None else approval.kind.replace("_", " "),
            country=approval.country,
            asked_by=approval.asked_by,
            asked_at=approval.asked_at,
            status=approval.status,
            decided_by=approval.decided_by,
        )

    async def told(self, call: Call, approval: Approval) -> Told:
        """Raises `Unavailable`."""
        telling, document = self.of(approval), document_of(approval)
        with suppress(*UNREADABLE):
            if telling is not None:
                return await telling.told(call, approval, document)
        return Told(everything=everything_of(document))


def _said(says: Callable[[Approval, Any], str] | None, approval: Approval) -> str | None:
    """None where the kind does not say it, or the document cannot be read."""
    with suppress(*UNREADABLE):
        return says(approval, document_of(approval)) if says is not None else None
    return None


def document_of(approval: Approval) -> Any:
    """What takes effect; the text itself where an erasure has changed it to no document."""
    try:
        return json.loads(approval.document)
    except ValueError:
        return approval.document


EVERY_KIND: Final = Tellings()
