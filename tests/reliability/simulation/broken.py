"""Parts that are wrong in one way each. A simulation that lets one of them pass is worth nothing."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.intake.awarding.awarder import Awarder
from abacus.intake.awarding.door import Door
from abacus.intake.earning.calculator import StreamCalculator
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.intake.earning.decider import CardsToProbe, DecidedBatch
from abacus.intake.earning.issuer import PointsIssuer
from abacus.intake.earning.retrier import Retrier
from abacus.ledger.decide.batch import plan
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.movement import MovesPort
from abacus.ledger.types.port import AwardOutcome, LedgerPort, Status
from abacus.platform.following.row_publisher import Publisher
from abacus.platform.health import WorkerHealth
from abacus.platform.kafka.publisher import StreamMessage
from abacus.platform.kafka.reader import Handler, Record, StreamReader
from abacus.platform.quarantine.store import QuarantinePort
from abacus.platform.quarantine.types import Item
from abacus.platform.sqs.port import Queue, Received
from tests.reliability.simulation.ledgers import LedgerInMemory
from tests.reliability.simulation.life import Life
from tests.reliability.simulation.on_postgres import LedgerOnPostgres, RelayOnPostgres
from tests.reliability.simulation.simulated import Parts


class _CommitsFirst(StreamCalculator):
    async def handle(self, records: Sequence[Record]) -> None:
        asyncio.ensure_future(super().handle(records))  # noqa: RUF006  # nobody waits for it: that is the fault


class _DeletesFirst(Awarder):
    async def handle(self, received: Sequence[Received]) -> Sequence[Received]:
        asyncio.ensure_future(super().handle(received))  # noqa: RUF006  # nobody waits for it: that is the fault
        return received


class _DeletesRetriesFirst(Retrier):
    async def handle(self, received: Sequence[Received]) -> Sequence[Received]:
        asyncio.ensure_future(super().handle(received))  # noqa: RUF006  # nobody waits for it: that is the fault
        return received


class _CommitsWhatItGaveUp(StreamReader):
    async def run(self, handle: Handler, stop: asyncio.Event) -> None:
        async def impatient(records: Sequence[Record]) -> None:
            with suppress(TimeoutError):
                await asyncio.wait_for(handle(records), 3.0)

        await super().run(impatient, stop)


class _TakesNoForAnAnswer(PointsIssuer):
    async def _send(self, queue: Queue, bodies: list[str], *, delay_s: int = 0) -> None:
        with suppress(Unavailable):
            await queue.send(bodies, delay_s=delay_s)


class _PaysTheRateOfTheDay(PointsIssuer):
    """Looks every transaction up as if it had happened now."""

    def __init__(self, *, cards: CardsToProbe, clock: Clock, **others: Any) -> None:
        super().__init__(cards=cards, clock=clock, **others)
        self._cards = cards
        self._clock = clock

    async def decide(self, messages: Sequence[SourceMessage]) -> DecidedBatch:
        decided = await super().decide(messages)
        decided.awards = [self._recalculated(award) for award in decided.awards]
        return decided

    def _recalculated(self, award: Award) -> Award:
        book = self._cards.book()
        now = book.in_force(award.country, self._clock.now())
        then = book.in_force(award.country, award.occurred_at)
        return award if now is then else award._replace(points=award.points + 1)


class _NoQuarantine(Awarder):
    def __init__(self, door: Door, ledger: LedgerPort, moves: MovesPort, quarantine: QuarantinePort) -> None:
        super().__init__(door, ledger, moves, _Void())


class _Void:
    async def add(self, items: Sequence[Item]) -> None:
        """Keeps no item."""


class _NoKeys(LedgerInMemory):
    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        self.claims = {}
        return await super().post(awards)


class _NoFingerprints(LedgerInMemory):
    """Takes every award under a known key for the same award."""

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        return [
            outcome._replace(status=Status.DUPLICATE) if outcome.status is Status.CONFLICT else outcome
            for outcome in await super().post(awards)
        ]


class _NoLocks(LedgerInMemory):
    """Lets others post between its look and its writing."""

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        claims = dict(self.claims)
        ids = {(award.member_id, award.program): award.country for award in awards}
        accounts = {id_: self.accounts.get(id_) or Account.opened(id_, country) for id_, country in ids.items()}
        await asyncio.sleep(0.05)
        decided = plan(awards, claims, accounts, self._clock.now())
        self.claims.update({claim.key: claim for claim in decided.claims})
        self.accounts.update(decided.accounts)
        self.transfers.extend(decided.transfers)
        return decided.outcomes


class _ForgetsExpiry(LedgerInMemory):
    """Lets an account's points lapse by the award that came last, even a late one."""

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        self.accounts = {
            id_: account._replace(expires_on=None, active_until=None) for id_, account in self.accounts.items()
        }
        return await super().post(awards)


class _Unconfirmed:
    """A publisher that does not wait for the broker, so that the cursor moves first."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self.connect = publisher.connect

    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        asyncio.ensure_future(self._publisher.publish(topic, messages))  # noqa: RUF006  # nobody waits for it: that is the fault


class _Backwards(_Unconfirmed):
    async def publish(self, topic: str, messages: Sequence[StreamMessage]) -> None:
        await self._publisher.publish(topic, messages[::-1])


class _RelayThatMovesFirst(RelayOnPostgres):
    def __init__(self, ledger: LedgerOnPostgres, publisher: Publisher, life: Life, health: WorkerHealth) -> None:
        super().__init__(ledger, _Unconfirmed(publisher), life, health)


class _RelayWithoutOrder(RelayOnPostgres):
    def __init__(self, ledger: LedgerOnPostgres, publisher: Publisher, life: Life, health: WorkerHealth) -> None:
        super().__init__(ledger, _Backwards(publisher), life, health)


# Broken parts, and the invariants one of which must be violated within a few seeds.
BROKEN: Final[Mapping[str, tuple[Parts, set[str]]]] = {
    "a calculator that commits before handing over": (
        Parts(calculator=_CommitsFirst),
        {"each key is posted once", "everything is in one place"},
    ),
    "an awarder that deletes before posting": (
        Parts(awarder=_DeletesFirst),
        {"each key is posted once", "everything is in one place"},
    ),
    "a retrier that deletes before handing over": (
        Parts(retrier=_DeletesRetriesFirst),
        {"each key is posted once", "everything is in one place"},
    ),
    "a reader that commits what it gave up": (
        Parts(reader=_CommitsWhatItGaveUp),
        {"each key is posted once", "everything is in one place"},
    ),
    "a sender that ignores what was not taken": (
        Parts(issuing=_TakesNoForAnAnswer),
        {"each key is posted once", "everything is in one place"},
    ),
    "late transactions at today's rates": (
        Parts(issuing=_PaysTheRateOfTheDay),
        {"posted as the oracle says"},
    ),
    "an awarder without a quarantine": (Parts(awarder=_NoQuarantine), {"everything is in one place"}),
    "a ledger without keys": (Parts(ledger=_NoKeys), {"each key is posted once"}),
    "a ledger without fingerprints": (Parts(ledger=_NoFingerprints), {"everything is in one place"}),
    # A lost change of an account may first show in its balance, in a key, or in the day on which it lapses.
    "a ledger without locks": (
        Parts(ledger=_NoLocks),
        {"accounts are sound", "each key is posted once", "posted as the oracle says"},
    ),
    "an expiry date that moves back": (Parts(ledger=_ForgetsExpiry), {"posted as the oracle says"}),
}

# Relays that the runs on Postgres must find out.
BROKEN_RELAYS: Final[Mapping[str, type[RelayOnPostgres]]] = {
    "a relay that moves its cursor first": _RelayThatMovesFirst,
    "a relay without order": _RelayWithoutOrder,
}
