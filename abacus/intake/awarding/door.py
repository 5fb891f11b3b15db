"""The door of the award queue: envelopes are opened, and what cannot be ours is set aside."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from abacus.core.clock import Clock
from abacus.core.errors import SetAside
from abacus.core.signature import Verifier, check_vouched
from abacus.core.sources import STREAM, campaign_of
from abacus.intake.awarding.decide.admission import PASSING, Issued, no_campaign
from abacus.ledger.types.award_envelope import Award, decode_envelope, encode_award
from abacus.ledger.types.movement import Reversal
from abacus.ledger.types.reversal_message import decode_reversal, encode_reversal
from abacus.platform.quarantine.types import AWARD_QUEUE, Item, Stage
from abacus.pricing.port import Cards


class Campaigns(Protocol):
    """The campaigns that there are or were."""

    async def unknown(self, names: Collection[str]) -> frozenset[str]:
        """The names that no campaign has. Raises `Unavailable`."""
        ...


class NoCampaigns:
    """Where none may give points."""

    async def unknown(self, names: Collection[str]) -> frozenset[str]:
        return frozenset(names)


NO_CAMPAIGNS: Final = NoCampaigns()


class Admitted(NamedTuple):
    """The awards and reversals in envelopes that may be posted, and all others with their faults. The envelope of each
    award and of each reversal stands beside them, by its place.
    """

    awards: list[Award]
    reversals: list[Reversal]
    bad: list[Item]
    envelopes_of_awards: list[int]
    envelopes_of_reversals: list[int]

    def envelopes_with(self, keys: Collection[str]) -> list[int]:
        """The places of the envelopes that brought awards or reversals with these keys, in order."""
        brought = [each.key for each in self.awards] + [each.key for each in self.reversals]
        places = [*self.envelopes_of_awards, *self.envelopes_of_reversals]
        return sorted({place for key, place in zip(brought, places, strict=True) if key in keys})


class Door:
    """Lets awards in, one by one: a bad one never hides its neighbours."""

    def __init__(self, cards: Cards, clock: Clock, verifier: Verifier, campaigns: Campaigns = NO_CAMPAIGNS) -> None:
        self._cards = cards
        self._clock = clock
        self._verifier = verifier
        self._campaigns = campaigns
        self._issued: Issued | None = None

    async def admit(self, bodies: Sequence[str]) -> Admitted:
        """Raises `Unavailable` while it cannot be known what is ours: then nothing is set aside."""
        opened = Admitted([], [], [], [], [])
        for place, body in enumerate(bodies):
            try:
                self._open(body, place, opened)
            except SetAside as fault:
                opened.bad.append(Item.of(Stage.ENVELOPE, AWARD_QUEUE, body.encode(), fault))
        return await self._sorted(opened)

    def _open(self, body: str, place: int, into: Admitted) -> None:
        """Raises `SetAside` when the envelope cannot be read, or nobody vouches for all of it."""
        producer = self._verifier.producer_of(body)
        opened = decode_envelope(body)
        reversals, bad = _read_reversals(opened.reversals)
        if producer is not None:
            sources = {award.source for award in opened.awards} | {reversal.source for reversal in reversals}
            check_vouched(producer, sources | ({STREAM} if bad else set()))
        into.awards.extend(opened.awards)
        into.envelopes_of_awards.extend([place] * len(opened.awards))
        into.bad.extend(Item.of(Stage.AWARD, AWARD_QUEUE, bad.body, bad.fault) for bad in opened.bad)
        into.bad.extend(bad)
        into.reversals.extend(reversals)
        into.envelopes_of_reversals.extend([place] * len(reversals))

    def _issued_now(self) -> Issued:
        book = self._cards.book()
        if self._issued is None or self._issued.book is not book:
            self._issued = Issued(book)
        return self._issued

    async def _sorted(self, opened: Admitted) -> Admitted:
        """Without the awards and reversals that are none of ours. Before a card is called missing, all are read anew:
        it may have been published a moment ago.
        """
        faults, refunds = self._faults(opened)
        if any(fault.reason in PASSING for fault in (*faults.values(), *refunds.values())):
            await self._cards.read_anew()
            faults, refunds = self._faults(opened)
        named = {place: name for place, award in enumerate(opened.awards) if (name := campaign_of(award.source))}
        if named:
            unknown = await self._campaigns.unknown(set(named.values()))
            faults |= {place: no_campaign(name) for place, name in named.items() if name in unknown}
        if not faults and not refunds:
            return opened
        return Admitted(
            [award for place, award in enumerate(opened.awards) if place not in faults],
            [reversal for place, reversal in enumerate(opened.reversals) if place not in refunds],
            [
                *opened.bad,
                *(item_of_award(opened.awards[place], fault) for place, fault in faults.items()),
                *(item_of_reversal(opened.reversals[place], fault) for place, fault in refunds.items()),
            ],
            [envelope for place, envelope in enumerate(opened.envelopes_of_awards) if place not in faults],
            [envelope for place, envelope in enumerate(opened.envelopes_of_reversals) if place not in refunds],
        )

    def _faults(self, opened: Admitted) -> tuple[dict[int, SetAside], dict[int, SetAside]]:
        """The faults of awards and of reversals, by their places."""
        issued, now = self._issued_now(), self._clock.now()
        refunds = {
            place: fault
            for place, reversal in enumerate(opened.reversals)
            if (fault := issued.fault_of_reversal(reversal, now)) is not None
        }
        return issued.faults_of_awards(opened.awards, now), refunds


def _read_reversals(texts: Sequence[bytes]) -> tuple[list[Reversal], list[Item]]:
    """The reversals, and those that cannot be read."""
    reversals, bad = list[Reversal](), list[Item]()
    for text in texts:
        try:
            reversals.append(decode_reversal(text))
        except SetAside as fault:
            bad.append(Item.of(Stage.AWARD, AWARD_QUEUE, text, fault))
    return reversals, bad


def item_of_award(award: Award, fault: SetAside) -> Item:
    item = Item.of(Stage.AWARD, f"award:{award.key}", encode_award(award), fault)
    return replace(item, key=award.key, fingerprint=award.fingerprint)


def item_of_reversal(reversal: Reversal, fault: SetAside) -> Item:
    item = Item.of(Stage.AWARD, f"award:{reversal.key}", encode_reversal(reversal), fault)
    return replace(item, key=reversal.key, fingerprint=reversal.fingerprint)
