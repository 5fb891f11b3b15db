"""How the approval of a rate card is told: what it changes against the card that it displaces on its day."""

from typing import Any, Final

from abacus.console.decide.named import Named
from abacus.console.decide.told import Told, changes_of, everything_of
from abacus.console.pages.approvals.telling import Telling
from abacus.console.pages.rates.rate_draft import CARD_DRAFTS
from abacus.console.web.calls import Call
from abacus.core.errors import SetAside, Unavailable
from abacus.documents.form.sentences import sentences
from abacus.people.types.approval import Approval, ApprovalKind, Status
from abacus.pricing.decide.card import RateCard, parse_card, to_document
from abacus.pricing.decide.card_form import CARD_FORM
from abacus.pricing.decide.timeline import place_of
from abacus.pricing.store.cards import CardReader

_WHY: Final = "A rate card prices every transaction of its country from its day on, so it always takes two people."


def _title(approval: Approval, document: Any) -> str:
    return f"Rate card of {approval.subject} from {document['effective_from'][:10]}"


async def _told(call: Call, approval: Approval, document: Any) -> Told:
    card = parse_card(document)
    before = _displaced(call, card) if approval.status == Status.PENDING else None
    return Told(
        why=_WHY,
        sentences=sentences(CARD_FORM, to_document(card)),
        changes=changes_of(CARD_FORM, to_document(before) if before else None, to_document(card)),
        against="the card in force then" if before is not None else None,
        about=[Named("card", card.scope)],
        everything=everything_of(document),
    )


def _displaced(call: Call, card: RateCard) -> RateCard | None:
    """As things stand."""
    try:
        displaced = place_of(card, call.rooms[CardReader].book().by_start(card.scope)).displaced
    except (SetAside, Unavailable):
        return None
    return displaced.card if displaced is not None else None


CARD: Final = Telling(kind=ApprovalKind.RATE_CARD, noun="Rate card", title=_title, told=_told, drafts=CARD_DRAFTS)
