"""Events that come back from the retry queue of campaigns: each is decided again, for the campaigns that waited."""

from collections.abc import Callable, Iterable, Sequence

from abacus.core.clock import Clock
from abacus.core.errors import SetAside
from abacus.core.signature import Verifier, check_vouched
from abacus.core.sources import campaign_source
from abacus.engage.campaigns.decide.deferred import Deferred, decode_deferred
from abacus.engage.campaigns.directory import InForce
from abacus.engage.campaigns.evaluator import Candidate, item_of
from abacus.engage.campaigns.verdicts import Verdicts
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import CAMPAIGN_RETRY_QUEUE, Item, Stage
from abacus.platform.sqs.port import Received
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.decide.event_reader import own_reader


class CampaignRetrier:
    """Handles messages of the retry queue: decides each event again, for the campaigns that waited."""

    def __init__(
        self,
        in_force: Callable[[], InForce],
        *,
        verdicts: Verdicts,
        cards: Callable[[], CardBook],
        quarantine: QuarantinePort,
        verifier: Verifier,
        clock: Clock,
    ) -> None:
        self._in_force = in_force
        self._verdicts = verdicts
        self._cards = cards
        self._quarantine = quarantine
        self._verifier = verifier
        self._clock = clock

    async def handle(self, received: Sequence[Received]) -> Sequence[Received]:
        """Raises `Unavailable`."""
        deferred: list[Deferred] = []
        unreadable: list[Item] = []
        for envelope in received:
            try:
                deferred += self._opened(envelope.body)
            except SetAside as fault:
                unreadable.append(Item.of(Stage.ENVELOPE, CAMPAIGN_RETRY_QUEUE, envelope.body.encode(), fault))
        await self._quarantine.add(unreadable)
        aside: list[Item] = []
        before: dict[tuple[str, str], Deferred] = {}
        candidates = list(self._candidates(deferred, before, aside))
        await self._quarantine.add(aside)
        await self._verdicts.reach([each.event for each in candidates], candidates, before)
        return received

    def _opened(self, body: str) -> Sequence[Deferred]:
        """Raises `SetAside` when the envelope cannot be read, or nobody vouches for all of it."""
        producer = self._verifier.producer_of(body)
        deferred = decode_deferred(body)
        if producer is not None:
            check_vouched(producer, {campaign_source(name) for each in deferred for name in each.campaigns})
        return deferred

    def _candidates(
        self, deferred: Iterable[Deferred], before: dict[tuple[str, str], Deferred], aside: list[Item]
    ) -> Iterable[Candidate]:
        """The candidates of campaigns that are still in force. Raises `Unavailable` when campaigns were never read."""
        now, cards = self._in_force(), self._cards()
        reader = own_reader(now.around.sources.values())
        for each in deferred:
            try:
                event = reader.read(each.event, self._clock.now())
            except SetAside as fault:
                aside.append(Item.of(Stage.EVENT, each.origin, each.event, fault))
                continue
            if event is None:
                continue
            for armed in now.index.answering(event):
                if armed.campaign.name not in each.campaigns:
                    continue
                try:
                    card = cards.in_force(armed.campaign.country, event.occurred_at)
                except SetAside as fault:
                    aside.append(item_of(each.origin, each.event, armed.campaign, fault))
                    continue
                candidate = Candidate(each.origin, each.event, event, armed, card, each.position)
                before[candidate.sent] = each
                yield candidate
