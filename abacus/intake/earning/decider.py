"""Decides about messages: their awards and reversals, what waits, and what is set aside. Nothing is handed over."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol

from abacus.core.clock import Clock, is_to_come
from abacus.core.errors import OF_CARDS, Reason, Refused, SetAside, Unavailable
from abacus.core.sources import source_of_key
from abacus.intake.earning.decide.calculate import Calculator, for_partner, reversal_of
from abacus.intake.earning.decide.retry import RetryPolicy
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.intake.earning.decide.transaction import Completed, Refunded, Transaction, read_transaction
from abacus.ledger.types.account import AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import Reversal
from abacus.ledger.types.port import Claim
from abacus.platform.quarantine.types import Item, Stage
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.port import Cards

_UNPRICED: Final = "member"


class CardsToProbe(Cards, Protocol):
    """The rate cards of a worker that waits for them."""

    async def look_again(self) -> None:
        """Read the cards anew, unless that was done just now."""
        ...


class Tiers(Protocol):
    """The source of the tiers of accounts."""

    async def tiers_in_reach(self, accounts: Collection[AccountId]) -> Mapping[AccountId, str]:
        """Without tiers on servers that are away. Raises `Unavailable` when all servers are."""
        ...

    async def probe(self) -> None:
        """Raises `Unavailable` when no tier can be read."""
        ...


class PostedClaims(Protocol):
    """The claims of awards that are posted."""

    async def claims_in_reach(self, keys: Collection[str]) -> Mapping[str, Claim]:
        """The claims of posted keys, without claims on servers that are away. Raises `Unavailable` when all servers
        are.
        """
        ...


@dataclass(slots=True)
class DecidedBatch:
    """The decisions about a batch of messages."""

    awards: list[Award] = field(default_factory=list)
    reversals: list[Reversal] = field(default_factory=list)
    set_aside: list[Item] = field(default_factory=list)
    deferred: list[SourceMessage] = field(default_factory=list)
    ignored: int = 0
    down: Unavailable | None = None  # why some were deferred


class _Read(NamedTuple):
    message: SourceMessage
    transaction: Transaction


class _Priced(NamedTuple):
    message: SourceMessage
    transaction: Transaction
    card: PublishedCard


class MessageDecider:
    """Decides batches of messages by the cards, the tiers and the postings as they are."""

    def __init__(
        self, *, cards: CardsToProbe, tiers: Tiers, postings: PostedClaims, retry_policy: RetryPolicy, clock: Clock
    ) -> None:
        self._cards = cards
        self._tiers = tiers
        self._postings = postings
        self._retry_policy = retry_policy
        self._clock = clock
        self._calculator: Calculator | None = None

    async def probe(self) -> None:
        """Checks that the cards and the tiers can be read. Raises `Unavailable`."""
        await self._cards.look_again()
        self._cards.book()
        await self._tiers.probe()

    async def decide(self, messages: Sequence[SourceMessage]) -> DecidedBatch:
        """Decides by the cards that are known. If they lack something that a message needs, they are read once more:
        perhaps it was published a moment ago.
        """
        unreadable = DecidedBatch()
        read = self._read(messages, unreadable)
        try:
            book = self._cards.book()
            decided = await self._decide(read, self._calculator_for(book))
            if any(item.reason in OF_CARDS for item in decided.set_aside):
                await self._cards.read_anew()
                if self._cards.book() is not book:
                    decided = await self._decide(read, self._calculator_for(self._cards.book()))
        except Unavailable as error:
            decided = DecidedBatch(down=error)
            self._defer(read, error, decided)
        decided.set_aside[:0] = unreadable.set_aside
        return decided

    async def _decide(self, read: Sequence[_Read], calculator: Calculator) -> DecidedBatch:
        """Raises `Unavailable` when nothing can be decided now."""
        decided = DecidedBatch()
        priced = self._find_cards(read, calculator, decided)
        tiers = await self._tiers_of(priced)
        originals = await self._originals_of(priced)
        for message, transaction, card in priced:
            try:
                if isinstance(transaction, Refunded):
                    self._take_back(message, transaction, card, originals, decided)
                    continue
                award = calculator.award(transaction, card, _tier(tiers, transaction, card))
            except Unavailable as not_final:
                self._defer([_Read(message, transaction)], not_final, decided)
                continue
            except SetAside as fault:
                decided.set_aside.append(_item(message, fault, transaction))
                continue
            if award is None:
                decided.ignored += 1
            else:
                decided.awards.append(_for_partner(award, message, transaction))
        return decided

    def _read(self, messages: Sequence[SourceMessage], decided: DecidedBatch) -> list[_Read]:
        read: list[_Read] = []
        now = self._clock.now()
        for message in messages:
            try:
                transaction = read_transaction(message.body)
            except SetAside as fault:
                decided.set_aside.append(_item(message, fault))
                continue
            if is_to_come(transaction.occurred_at, now):
                detail = f"{transaction.occurred_at.isoformat()} is still to come; here it is {now.isoformat()}"
                decided.set_aside.append(_item(message, SetAside(Reason.IN_THE_FUTURE, detail), transaction))
                continue
            read.append(_Read(message, transaction))
        return read

    def _find_cards(self, read: Sequence[_Read], calculator: Calculator, decided: DecidedBatch) -> list[_Priced]:
        priced: list[_Priced] = []
        for message, transaction in read:
            try:
                priced.append(_Priced(message, transaction, _card(calculator, message, transaction)))
            except SetAside as fault:
                decided.set_aside.append(_item(message, fault, transaction))
            except Unavailable as not_final:
                self._defer([_Read(message, transaction)], not_final, decided)
        return priced

    async def _tiers_of(self, priced: Sequence[_Priced]) -> Mapping[AccountId, str]:
        accounts = {
            (transaction.member_id, card.card.program)
            for _, transaction, card in priced
            if isinstance(transaction, Completed)
        }
        return await self._tiers.tiers_in_reach(accounts) if accounts else {}

    async def _originals_of(self, priced: Sequence[_Priced]) -> Mapping[str, Claim]:
        keys = {each.transaction.refunds for each in priced if isinstance(each.transaction, Refunded)}
        return await self._postings.claims_in_reach(keys) if keys else {}

    def _take_back(
        self,
        message: SourceMessage,
        refund: Refunded,
        card: PublishedCard,
        originals: Mapping[str, Claim],
        decided: DecidedBatch,
    ) -> None:
        """Decides a refund; while its transaction is not posted, the refund waits. Raises `SetAside`."""
        original = originals.get(refund.refunds)
        if original is None:
            self._defer(
                [_Read(message, refund)], Unavailable("transaction", f"{refund.refunds} is not posted"), decided
            )
        else:
            decided.reversals.append(reversal_of(refund, original, card))

    def _defer(self, read: Sequence[_Read], error: Unavailable, decided: DecidedBatch) -> None:
        now = self._clock.now()
        for message, transaction in read:
            failed = message.failed(error, now)
            if failed.first_failed_at and self._retry_policy.exhausted(failed.first_failed_at, now):
                detail = f"{failed.attempt} attempts since {failed.first_failed_at.isoformat()}; last: {failed.cause}"
                fault = SetAside(Reason.RETRIES_EXHAUSTED, detail)
                decided.set_aside.append(_item(message, fault, transaction))
            else:
                decided.deferred.append(failed)

    def _calculator_for(self, book: CardBook) -> Calculator:
        if self._calculator is None or self._calculator.book is not book:
            self._calculator = Calculator(book)
        return self._calculator


def _card(calculator: Calculator, message: SourceMessage, transaction: Transaction) -> PublishedCard:
    """The card that the partner's request names, or else the card in force at the place and time. Raises `SetAside`."""
    request = message.partner_request
    if request is None:
        return calculator.card_for(transaction)
    try:
        return calculator.book.by_name(request.card)
    except Refused as error:
        raise SetAside(Reason.NO_CARD_IN_FORCE, str(error)) from None


def _tier(tiers: Mapping[AccountId, str], transaction: Transaction, card: PublishedCard) -> str:
    """Raises `Unavailable` for a member whose tier could not be read."""
    if not isinstance(transaction, Completed):
        return _UNPRICED
    tier = tiers.get((transaction.member_id, card.card.program))
    if tier is None:
        raise Unavailable("tiers", "the server that has the member's is away")
    return tier


def _for_partner(award: Award, message: SourceMessage, transaction: Transaction) -> Award:
    """The award under the partner's key, if a partner requested it; otherwise the award as it is."""
    request = message.partner_request
    if request is None or not isinstance(transaction, Completed):
        return award
    return for_partner(award, transaction, request.key, source_of_key(request.key) or award.source)


def _item(message: SourceMessage, fault: SetAside, transaction: Transaction | None = None) -> Item:
    """The quarantine item of a message; the partner that requested the award finds it by its key."""
    item = Item.of(Stage.TRANSACTION, message.origin, message.body, fault)
    request = message.partner_request
    if request is None or not isinstance(transaction, Completed):
        return item
    return replace(item, key=request.key, fingerprint=transaction.fingerprint_for_partner)
