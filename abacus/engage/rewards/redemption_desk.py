"""The one door to redemptions: rewards for a member, redeeming, giving back, and what fulfillers report."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable, absent
from abacus.engage.asking.facts import AskingMember
from abacus.engage.asking.standings import Standings
from abacus.engage.asking.types import Standing
from abacus.engage.rewards.admission import Admission, Asking
from abacus.engage.rewards.decide.draft import Ask, draft_of, looking, wanted_of
from abacus.engage.rewards.decide.place import Place
from abacus.engage.rewards.decide.price import (
    Lock,
    Locked,
    Quote,
    check_audience,
    check_one,
    check_open,
    missing_points,
    quote,
)
from abacus.engage.rewards.decide.redemption import PAID, Redemption, Stage, facts_of
from abacus.engage.rewards.decide.reward import ByInvitation, Reward
from abacus.engage.rewards.deliveries import Deliveries
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.pools import codes_of
from abacus.engage.rewards.redeemer import MOST_TOGETHER, Order, Redeemer
from abacus.engage.rewards.redemption_reader import RedemptionReader
from abacus.engage.rewards.redemption_rows import Step
from abacus.engage.rewards.rehearsal import in_none, rehearsed_facts
from abacus.platform.encryption import Secrets
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.postgres import Also, Pool, nothing_else, passing_failures
from abacus.pricing.decide.book import CardBook
from abacus.signals.facts.members import InSegments
from abacus.signals.facts.types import FactRegistry

_GATHER_S: Final = 0.001
MOST_LISTED: Final = 200
MOST_PIECES: Final = 100


class Listed(NamedTuple):
    """A reward as a member sees it: the points for a piece, and every reason against it."""

    reward: Reward
    points: int
    locks: Sequence[Locked]


class MemberRewards(NamedTuple):
    """What there is for a member. It `is_degraded` where rewards may be missing, because what they ask cannot be told
    now.
    """

    listed: Sequence[Listed]
    is_degraded: bool


class RedemptionState(Refused):
    """The redemption is at another stage."""


class RedemptionDesk:
    """Every method raises `Unavailable` while the database is away."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        redeemer: Redeemer,
        deliveries: Deliveries,
        *,
        offered: Callable[[], Mapping[str, Offered]],
        book: Callable[[], CardBook],
        segments: InSegments,
        facts: FactRegistry[AskingMember],
        secrets: Secrets,
    ) -> None:
        self._pool = pool
        self._clock = clock
        self._redeemer = redeemer
        self._deliveries = deliveries
        self.offered = offered
        self._book = book
        self._admission = Admission(segments, facts)
        self._secrets = secrets
        self._rows = redeemer.rows
        self._reader = RedemptionReader(pool)
        self._codes: Gatherer[UUID, Sequence[str]] = Gatherer(
            self._read_codes, gather_s=_GATHER_S, most_together=MOST_TOGETHER
        )

    def rehearsing(self, pool: Pool, redeemer: Redeemer, deliveries: Deliveries) -> "RedemptionDesk":
        """A desk of the sandbox, with the rewards that are in force."""
        return RedemptionDesk(
            pool,
            self._clock,
            redeemer,
            deliveries,
            offered=self.offered,
            book=self._book,
            segments=in_none,
            facts=rehearsed_facts(),
            secrets=self._secrets,
        )

    def reward(self, name: str) -> Reward | None:
        """A reward that is in force."""
        found = self.offered().get(name)
        return found.reward if found is not None else None

    async def of_key(self, key: str) -> Redemption | None:
        """What was asked for under this key before."""
        return await self._reader.of_key(key)

    async def redeem(self, ask: Ask, standings: Standings) -> Redemption:
        """Raises `Locked`, `KeyReused` and `Absent` as well."""
        facts = facts_of(ask.member_id, ask.reward, ask.quantity, ask.points)
        offered = self.offered().get(ask.reward)
        try:
            draft = None if offered is None else await self._draft(offered, ask, facts, standings)
        except Locked as fault:
            return await self._redeemer.redeem(Order(ask.key, facts, None, fault))
        if draft is None and await self._reader.of_key(ask.key) is None:
            raise absent("reward", ask.reward)
        return await self._redeemer.redeem(Order(ask.key, facts, draft))

    async def codes(self, redemption: Redemption) -> Sequence[str]:
        """What the member has by it. Raises `SecretUnreadable`."""
        if redemption.stage != Stage.GIVEN:
            return []
        return await self._codes.ask(redemption.redemption_id)

    async def one(self, member_id: str, redemption_id_: UUID) -> Redemption | None:
        return await self._reader.one(member_id, redemption_id_)

    async def of_member(self, member_id: str, most: int, after: Place | None = None) -> list[Redemption]:
        """The newest first, or the next after a place in this order."""
        return await self._reader.of_member(member_id, most, after)

    async def cancel(self, redemption: Redemption, *, also: Also = nothing_else) -> Redemption:
        """Points come back for what the fulfiller has not delivered, or for an invitation that is not used, and the
        piece is there for others; `also` is done with it. Raises `RedemptionState`.
        """
        from_ = (Stage.SENT,) if redemption.offer is None else (Stage.GIVEN,)
        return await self._back(redemption, from_, Stage.CANCELLING, Stage.CANCELLED, also=also)

    async def bring_back(self, redemption: Redemption, *, also: Also = nothing_else) -> Redemption:
        """Points come back for what the member had; a code stays used; `also` is done with it. An invitation that is
        used, and points that cannot be taken back, stay as they are. Raises `RedemptionState`.
        """
        return await self._back(redemption, PAID, Stage.RETURNING, Stage.RETURNED, also=also)

    async def report(self, redemption: Redemption, *, fulfilled: bool, detail: str | None) -> Redemption:
        """What the fulfiller says: it is delivered, or it never will be, and points come back. Raises
        `RedemptionState`.
        """
        if not fulfilled:
            return await self._back(redemption, (Stage.SENT,), Stage.CANCELLING, Stage.CANCELLED, detail=detail)
        if redemption.stage == Stage.FULFILLED:
            return redemption
        if redemption.stage != Stage.SENT:
            raise _wrong(redemption)
        step = Step(redemption.key, Stage.SENT, Stage.FULFILLED, None, detail)
        await self._rows.step([step], self._clock.now())
        return await self._now(redemption, Stage.FULFILLED)

    async def listed(self, member_id: str, standings: Standings) -> MemberRewards:
        """The rewards that are there now in the countries of the member's accounts, as far as its audience goes; the
        cheapest first. Where it cannot be told now whether a reward is for the member, it is left out.
        """
        now, book = self._clock.now(), self._book()
        countries = {each.country for each in standings.values()}
        there = []
        for each in self.offered().values():
            if each.reward.country in countries:
                program = book.in_force(each.reward.country, now).card.program
                standing = standings.get(program)
                if standing is not None and standing.country == each.reward.country:
                    there.append((each, program, standing))
        open_ = [(each, program, standing) for each, program, standing in there if _is_open(each, standing, now)]
        seen = await self._admission.holds([Asking(each, member_id, standing, now) for each, _, standing in open_])
        mine = [one for one, holds in zip(open_, seen, strict=True) if holds][:MOST_LISTED]
        shelf = await self._reader.shelf(member_id, [wanted_of(each.reward, now) for each, _, _ in mine])
        offers = {each.reward.delivery.offer for each, _, _ in mine if isinstance(each.reward.delivery, ByInvitation)}
        against = await self._deliveries.against(member_id, offers)
        prices = await self._admission.pieces([Asking(each, member_id, standing, now) for each, _, standing in mine])
        found = []
        for (each, program, standing), points in zip(mine, prices, strict=True):
            draft = looking(each.reward, member_id, 1, Quote(points), program=program, now=now)
            locks = list(shelf.lacking(draft, each.reward.limits))
            if draft.offer is not None and draft.offer in against:
                locks.append(against[draft.offer])
            locks = [*missing_points(points, standing), *locks]
            found.append(Listed(each.reward, points, locks))
        return MemberRewards(sorted(found, key=lambda one: (one.points, one.reward.name)), is_degraded=None in seen)

    async def _draft(self, offered: Offered, ask: Ask, facts: str, standings: Standings) -> Redemption:
        """Raises `Locked` and `Unavailable`."""
        now, reward = self._clock.now(), offered.reward
        program = self._book().in_force(reward.country, now).card.program
        standing = standings.get(program)
        if standing is None:
            raise Locked(Lock.POINTS, f"{ask.member_id} has no account of {program}")
        check_open(reward, standing, now)
        asking = [Asking(offered, ask.member_id, standing, now)]
        (holds,) = await self._admission.holds(asking)
        if holds is None:
            raise Unavailable("rewards", f"whether {reward.name} is for the member cannot be told now")
        check_audience(reward, holds=holds)
        (piece,) = await self._admission.pieces(asking)
        price = quote(reward, piece, ask.quantity, ask.points)
        if isinstance(reward.delivery, ByInvitation):
            check_one(reward, ask.quantity)
            for against in (await self._deliveries.against(ask.member_id, [reward.delivery.offer])).values():
                raise against
        return draft_of(reward, ask, price, facts=facts, program=program, now=now)

    async def _read_codes(self, together: Sequence[PendingRequest[UUID, Sequence[str]]]) -> None:
        """Redemptions of one batch end together, and their codes are read together."""
        async with passing_failures():
            found = await codes_of(self._pool, [each.request for each in together], self._secrets)
        for each in together:
            each.answer(found.get(each.request, []))

    async def _back(
        self,
        redemption: Redemption,
        from_: Sequence[Stage],
        through: Stage,
        to: Stage,
        *,
        detail: str | None = None,
        also: Also = nothing_else,
    ) -> Redemption:
        if redemption.stage in from_:
            step = Step(redemption.key, redemption.stage, through, None, detail)
            await self._rows.step_told(step, self._clock.now(), also)
        elif redemption.stage not in {through, to}:
            raise _wrong(redemption)
        known = await self._rows.of_keys([redemption.key])
        await self._redeemer.carry([each for each in known.values() if not each.ended])
        return await self._now(redemption, to)

    async def _now(self, redemption: Redemption, expected: Stage) -> Redemption:
        """Raises `RedemptionState` where another caller brought it elsewhere, and `Unavailable` where it waits."""
        found = (await self._rows.of_keys([redemption.key]))[redemption.key]
        if not found.ended:
            raise Unavailable("ledger", "the redemption is gone on with")
        if found.stage != expected:
            raise _wrong(found)
        return found


def _wrong(redemption: Redemption) -> RedemptionState:
    why = f": {redemption.detail}" if redemption.detail else ""
    return RedemptionState(f"the redemption is {redemption.stage}{why}")


def _is_open(offered: Offered, standing: Standing, now: datetime) -> bool:
    try:
        check_open(offered.reward, standing, now)
    except Locked:
        return False
    return True
