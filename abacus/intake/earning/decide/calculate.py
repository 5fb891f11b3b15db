"""The decision that turns a transaction into an award, and a refund into a reversal. No I/O."""

from abacus.core.errors import Reason, SetAside
from abacus.core.points import money
from abacus.core.sources import STREAM
from abacus.intake.earning.decide.transaction import Completed, Event, Refunded, Transaction
from abacus.ledger.types.award_envelope import Award, Transacted
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.movement import Refund, Reversal
from abacus.ledger.types.port import Claim
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import Expiry, PublishedCard
from abacus.pricing.decide.formula import Rate, Worth, fixed_worth, rate_of, worth
from abacus.pricing.decide.vesting import vesting_of
from abacus.pricing.explanation.text import naming_redemption, naming_transaction
from abacus.programs.expiry.decide.month import last_good_day


class Calculator:
    """Decides awards under one book of cards and remembers each rate that it computed.

    The memory is bounded by the size of the cards (verticals x payment types x tiers) and is dropped with the book.
    """

    def __init__(self, book: CardBook) -> None:
        self.book = book
        self._rates: dict[tuple[str, str, str, str], Rate] = {}

    def card_for(self, transaction: Transaction) -> PublishedCard:
        """The card in force at the place and time of the transaction. Raises `SetAside` when there is none."""
        return self.book.in_force(transaction.country, transaction.occurred_at)

    def award(self, transaction: Transaction, published: PublishedCard, tier: str) -> Award | None:
        """The award for a transaction; None for a refund and for an event that the card does not list.

        Raises `SetAside` for a transaction that cannot be priced.
        """
        if isinstance(transaction, Completed):
            earned = self._worth(transaction, published, tier)
            if transaction.redemption_id is not None:
                earned = earned[0], naming_redemption(earned[1], transaction.redemption_id)
            return self._award(transaction, published, earned)
        if isinstance(transaction, Refunded):
            return None
        points = published.card.fixed_awards.get(transaction.type)
        if points is None:
            return None
        return self._award(transaction, published, fixed_worth(published, transaction.type, points))

    def _worth(self, transaction: Completed, published: PublishedCard, tier: str) -> Worth:
        card = published.card
        if transaction.currency != card.currency:
            raise SetAside(
                Reason.UNKNOWN_CURRENCY, f"currency {transaction.currency}; the card of {card.scope} is {card.currency}"
            )
        kind = (published.name, transaction.vertical, transaction.payment_type, tier)
        rate = self._rates.get(kind)
        if rate is None:
            rate = self._rates[kind] = rate_of(published, transaction.vertical, transaction.payment_type, tier)
        return worth(transaction.amount, rate)

    def _award(self, transaction: Completed | Event, published: PublishedCard, earned: Worth) -> Award:
        card, activity = published.card, True
        points, explanation = earned
        award = Award(
            transaction.key,
            transaction.member_id,
            card.program,
            transaction.country,
            TransferKind.EARN,
            points,
            transaction.occurred_at,
            last_good_day(transaction.occurred_at, card.zone, card.expiry_months),
            activity,
            transaction.fingerprint,
            explanation,
            STREAM,
            card.expiry is Expiry.LIFETIME,
        )
        if card.vests_after_days is None or not isinstance(transaction, Completed):
            return award
        vesting = vesting_of(card, transaction.occurred_at)
        return award if vesting is None else award._replace(vests_on=vesting.on, vests_at=vesting.at)


def for_partner(award: Award, transaction: Completed, key: str, source: str) -> Award:
    """The award under the key of the partner that requested it. It claims the transaction as well, which is awarded
    once for all partners (docs/adr/0042).
    """
    return award._replace(
        key=key,
        fingerprint=transaction.fingerprint_for_partner,
        source=source,
        explanation=naming_transaction(award.explanation, award.key),
        transaction=Transacted(award.key, award.fingerprint),
    )


def reversal_of(refund: Refunded, original: Claim, published: PublishedCard) -> Reversal:
    """The reversal for a refund, by the policy of the card in force at its place and time. The ledger decides how many
    points it takes. Raises `SetAside` for a refund that contradicts its transaction.
    """
    if refund.member_id != original.member_id:
        raise SetAside(Reason.INVALID, f"{original.key} is another member's transaction")
    card = published.card
    return Reversal(
        key=refund.key,
        member_id=original.member_id,
        program=original.program,
        country=refund.country,
        fingerprint=refund.fingerprint,
        reverses=original.key,
        part=Refund(money(refund.amount), refund.currency),
        on_shortfall=card.on_shortfall,
        card=published.name,
        reason=None,
        actor=None,
        source=STREAM,
        occurred_at=refund.occurred_at,
        expires_on=last_good_day(refund.occurred_at, card.zone, card.expiry_months),
        lifetime=card.expiry is Expiry.LIFETIME,
    )
