"""A ledger in which a partner gives, holds and takes back, and people adjust, alone and by two."""

from datetime import timedelta
from typing import Any, Final

from abacus.intake.partners.decide.partner import LIVE_KEY, Partner
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.store.large_moves import LargeMoves
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.limits import Alone, Limits
from abacus.ledger.types.movement import Adjustment, Moved, Movement, Reserve, Reversal
from abacus.ledger.types.port import Status
from abacus.people.store.approvals import Approvals
from abacus.people.types.approval import Approval
from abacus.people.types.person import Actor, Grant, Role
from abacus.platform.postgres import Pool
from tests.ledger.moves import ACME, adjust, capture, hold, release, reverse
from tests.support.awards import award
from tests.support.explanations import granted
from tests.support.fixed_clock import FixedClock
from tests.support.logged import limits_logged
from tests.support.sealing import NOW, earned
from tests.support.staff import hire

CLOCK: Final = FixedClock(NOW)
BEN: Final = Actor("ben", (Grant(Role.APPROVER),))
_PARTNER: Final = Partner("acme", "Acme", True, True, (), None, 60, None, NOW, "ann", None)  # noqa: FBT003  # columns


def gift(points: int, key: str = "g", **changes: Any) -> Award:
    """Acme's, for Bob."""
    fields = {"key": f"api:acme:{key}", "points": points, "activity": False, "explanation": granted(points)}
    return award(**(fields | changes))


def held(points: int, name: str) -> Reserve:
    return hold(points, name, until=NOW + timedelta(days=1))


def added(points: int, key: str = "a") -> Adjustment:
    """By the partner."""
    return adjust(points, f"api:acme:{key}", actor=ACME.actor, source=ACME.source)


def taken_back(part: int | None = None, of: str = "api:acme:g", **changes: Any) -> Reversal:
    """By the partner."""
    return reverse(of, part, actor=ACME.actor, source=ACME.source)._replace(**changes)


class Busy:
    """The ledger, with Acme registered and Ann and Ben hired."""

    def __init__(self, pool: Pool, clock: FixedClock = CLOCK) -> None:
        self._moves = PostgresMoves(pool, clock)
        self._ledger = PostgresLedger(pool, clock)
        self._large = LargeMoves(Approvals(pool, clock), self._one, Alone(adjustment=100, reversal=100))
        self._pool = pool

    async def opens(self) -> None:
        await PartnerStore(self._pool, CLOCK).create(
            _PARTNER, Limits(in_total=1000), LIVE_KEY.new(), also=limits_logged("acme")
        )
        await hire(self._pool, "ann", "support")
        await hire(self._pool, "ben", "approver")

    async def post(self, *awards: Award) -> None:
        assert {each.status for each in await self._ledger.post(awards)} == {Status.POSTED}

    async def move(self, *movements: Movement) -> None:
        for movement in movements:
            moved = await self._one(movement)
            assert moved.status is Status.POSTED, moved.fault

    async def large(self, movement: Adjustment | Reversal) -> None:
        """With Ben's approval where it takes one."""
        outcome = await self._large.do(movement)
        if isinstance(outcome, Approval):
            done = await self._large.approvals.approve(outcome.approval_id, BEN, outcome.digest)
            assert done.status == "done"

    async def _one(self, movement: Movement) -> Moved:
        return (await self._moves.move([movement]))[0]


async def busy(pool: Pool) -> Busy:
    """Bob has 72 of a meal, 30 of Acme's 50, 10 that Acme adjusted, 20 that Ann adjusted, 400 that Ben approved and 300
    left of 500; of these 11 are held, 12 were captured and 13 released.
    """
    ledger = Busy(pool)
    await ledger.opens()
    await ledger.post(earned("bob", 1, "18.00"), gift(50), earned("eve", 1))
    await ledger.move(taken_back(20), held(11, "open"), held(12, "used"), held(13, "free"))
    await ledger.move(capture(name="used"), release(name="free"))
    await ledger.large(added(10))
    await ledger.large(adjust(20, "adjust:small"))
    await ledger.large(adjust(400, "adjust:large"))
    await ledger.large(adjust(90, "adjust:most"))
    await ledger.large(adjust(500, "adjust:too-much"))
    back = reverse("adjust:too-much", 200, actor="ann", source="person:ann", reason="a mistake")
    await ledger.large(back._replace(key="ops:back"))
    return ledger
