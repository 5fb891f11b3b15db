"""The access of test keys: the same parts as for live keys, on the sandbox's tables, and without a queue.

They read rate cards, the sources of events and the rights of partners from the live tables, and write nothing there;
the front notes their requests beside the live ones. Events are checked, and published nowhere.
"""

from collections.abc import Coroutine, Sequence
from typing import Final

from abacus.api.auth import TEST, Access
from abacus.approving.executors import approving
from abacus.core.errors import Unavailable
from abacus.core.signature import Verifier
from abacus.engage.notify.preferences import PreferenceStore
from abacus.intake.awarding.awarder import Awarder
from abacus.intake.awarding.door import Door
from abacus.intake.partners.award_intake import AwardIntake
from abacus.intake.partners.calculations import Calculations
from abacus.intake.partners.directory import Directory
from abacus.intake.partners.members import MemberReader
from abacus.intake.partners.movement_batcher import MovementBatcher
from abacus.intake.partners.register import Register
from abacus.intake.partners.sandbox import SandboxDirectory
from abacus.intake.partners.signing_secrets import SigningSecrets
from abacus.intake.partners.store import PartnerStore
from abacus.intake.partners.watch import Watch
from abacus.ledger.store.holds import HoldKeeper, HoldReader
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.alone import Alone
from abacus.platform.encryption import Secrets
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.rate_limits.limiter import RateLimiter
from abacus.platform.rate_limits.store import BucketStore
from abacus.platform.rooms import Rooms
from abacus.platform.sqs.port import Received, Unsent
from abacus.pricing.store.reader import CardReader
from abacus.programs.tiers.store import MembershipStore
from abacus.signals.events.event_desk import EventDesk

_NAME: Final = "sandbox"


class _PostsAtOnce:
    """In place of the award queue: an award that is sent is posted by the time that this returns."""

    name = _NAME

    def __init__(self, awarder: Awarder) -> None:
        self._awarder = awarder

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:  # noqa: ARG002  # as a queue does
        for place, body in enumerate(bodies):
            try:
                await self._awarder.handle([Received(_NAME, _NAME, body, receives=1)])
            except Unavailable as error:
                raise Unsent(_NAME, error.detail, bodies[place:]) from error


class _TakesNothing:
    """In place of the retry queue: while tiers cannot be read, nothing is computed."""

    name = _NAME

    async def send(self, bodies: Sequence[str], *, delay_s: int = 0) -> None:  # noqa: ARG002  # as a queue does
        raise Unsent(_NAME, "the tiers of members cannot be read now", bodies)


class Sandbox:
    """The access, and the work that goes on beside requests."""

    def __init__(
        self, live: Access, live_directory: Directory, cards: CardReader, pool: Pool, *, secrets: Secrets, alone: Alone
    ) -> None:
        clock = live.clock
        register, moves = Register(pool, clock), PostgresMoves(pool, clock)
        quarantine = QuarantineStore(pool, clock)
        # Its envelopes do not leave the process, so nobody signs them; and no campaign runs in a sandbox.
        door = Door(cards, clock, Verifier())
        awarder = Awarder(door, PostgresLedger(pool, clock), moves, quarantine)
        self._directory = Directory(PartnerStore(pool, clock), clock)
        self.refresh = self._directory.refresh
        self._batcher = MovementBatcher(moves, register)
        self._intake = AwardIntake(_PostsAtOnce(awarder), _TakesNothing(), register)
        self._holds = HoldKeeper(pool, moves, clock)
        self._limiter = RateLimiter(BucketStore(pool), clock)
        self.access = Access(
            clock=clock,
            directory=SandboxDirectory(self._directory, live_directory),
            people=live.people,
            signing_secrets=SigningSecrets(secrets),
            limiter=self._limiter,
            mode=TEST,
            rooms=Rooms(
                Calculations(cards),
                MembershipStore(pool, clock),
                self._intake,
                register,
                Watch(register),
                MemberReader(pool),
                LedgerReader(pool),
                PreferenceStore(pool, clock),
                live.rooms[EventDesk].rehearsing(),
                self._batcher,
                HoldReader(pool),
                approving(pool, clock, self._batcher.move, alone, ()),  # no campaign runs in a sandbox
            ),
        )

    def wake(self) -> None:
        """Partners, or their test keys, were changed."""
        self._directory.wake()

    def work(self) -> tuple[Coroutine[None, None, None], ...]:
        """Each runs until cancelled."""
        return (
            self._directory.keep_fresh(),
            self._directory.keep_noting_use(),
            self._intake.keep_books(),
            self._holds.keep_releasing(),
            self._limiter.keep_giving_back(),
        )

    async def close(self) -> None:
        """Waits for the requests in progress."""
        await self._limiter.close()
        await self._intake.close()
        await self._batcher.close()
