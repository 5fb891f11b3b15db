"""The one door to exchanges: quotes and conversions, beside where an exchange stands and what is decided of one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias
from uuid import UUID, uuid4

from abacus.core.clock import Clock
from abacus.core.errors import Refused, Unavailable, absent
from abacus.core.sources import Agent
from abacus.engage.asking.facts import AskingMember
from abacus.engage.asking.standings import Standings
from abacus.exchanges.converter import Conversion, Converter
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.programme import Direction, Programme
from abacus.exchanges.decide.programmes import InForce, Programmes
from abacus.exchanges.decide.quote import Usual, Wish, amounts, check_open, quoted
from abacus.exchanges.decide.terms import Amounts
from abacus.exchanges.exchange_deeds import ExchangeDeeds
from abacus.exchanges.exchange_rows import enter, usual_of
from abacus.exchanges.hearing import Hearing
from abacus.exchanges.settler import VersionOf
from abacus.platform.gatherer import Gatherer, PendingRequest
from abacus.platform.postgres import Pool, passing_failures
from abacus.signals.facts.rounds import Question, decide_all
from abacus.signals.facts.types import FactRegistry

_GATHER_S: Final = 0.002
_MOST_TOGETHER: Final = 500
_LATELY: Final = timedelta(days=30)
_USUAL_FOR: Final = timedelta(minutes=1)

# The member's link to a programme that may be used now. Raises `Refused` where there is none, and `Unavailable`.
LinkOf: TypeAlias = Callable[[str, str], Awaitable[UUID]]


class NotEligible(Refused):
    """The programme is not for this member."""


class Quote(NamedTuple):
    """An offer to exchange. Without an `exchange` it only tells: what comes in begins at the partner."""

    programme: Programme
    direction: Direction
    amounts: Amounts
    fee: int
    usual: Usual | None
    exchange: Exchange | None


_Entering: TypeAlias = PendingRequest[Exchange, None]


class ExchangeDesk(ExchangeDeeds):
    """Every method raises `Unavailable` while the database is away."""

    def __init__(
        self,
        pool: Pool,
        clock: Clock,
        converter: Converter,
        hearing: Hearing,
        *,
        programmes: Callable[[], Programmes],
        version_of: VersionOf,
        link_of: LinkOf,
        facts: FactRegistry[AskingMember],
    ) -> None:
        super().__init__(pool, clock, hearing, version_of)
        self._converter = converter
        self.programmes = programmes
        self._link_of = link_of
        self._facts = facts
        self._usual: dict[str, tuple[datetime, Usual | None]] = {}
        self._entering: Gatherer[Exchange, None] = Gatherer(
            self._enter, gather_s=_GATHER_S, most_together=_MOST_TOGETHER
        )

    async def quote(self, wish: Wish, standings: Standings, agent: Agent) -> Quote:
        """Raises `Absent`, `NotOffered`, `UnfitAmount`, `NotEligible`, and what is against the member's link."""
        now, programme = self._clock.now(), self._programme(wish.programme)
        check_open(programme.programme, now)
        of = programme.programme
        debit_and_credit = amounts(of, wish)
        await self._check_member(programme, wish.member_id, standings, now)
        usual = await self._usually(of.name, now)
        if wish.direction is Direction.IN:
            return Quote(of, wish.direction, debit_and_credit, 0, usual, None)
        link_id = await self._link_of(of.name, wish.member_id)
        exchange = quoted(of, wish, link_id, agent, now, exchange_id=uuid4())
        await self._entering.ask(exchange)
        return Quote(of, wish.direction, debit_and_credit, exchange.fee, usual, exchange)

    async def misfit(self, programme: str, member_id: str, standings: Standings) -> str | None:
        """Why nothing may come in for the member by the programme's rule. A member without points may be new."""
        of, now = self._programme(programme), self._clock.now()
        standing = standings.get(of.programme.program)
        if standing is None and of.plan is None and of.misfit is None:
            return None
        try:
            await self._check_member(of, member_id, standings, now)
        except NotEligible as fault:
            return str(fault)
        return None

    async def convert(self, conversion: Conversion) -> Exchange:
        """See `Converter.convert`."""
        return await self._converter.convert(conversion)

    async def close(self) -> None:
        await self._entering.close()
        await self._converter.close()

    def _programme(self, name: str) -> InForce:
        """Raises `Absent`."""
        found = self.programmes().by_name.get(name)
        if found is None:
            raise absent("programme", name)
        return found

    async def _check_member(self, of: InForce, member_id: str, standings: Standings, now: datetime) -> None:
        """Raises `NotEligible`, and `Unavailable` where it cannot be told now."""
        programme = of.programme
        standing = standings.get(programme.program)
        if standing is None or standing.country != programme.country:
            raise NotEligible(f"{member_id} has no points of {programme.program} in {programme.country}")
        if of.misfit is not None:
            raise NotEligible(f"{programme.name} is for nobody now: {of.misfit}")
        if of.plan is None:
            return
        subject = AskingMember.of("exchanges", programme, member_id, standing, now)
        (decision,) = await decide_all([Question(subject, of.plan)], self._facts)
        if decision.holds is None:
            raise Unavailable("exchanges", f"whether {programme.name} is for the member cannot be told now")
        if not decision.holds:
            raise NotEligible(f"{programme.name} is not for this member")

    async def _usually(self, programme: str, now: datetime) -> Usual | None:
        read_at, usual = self._usual.get(programme, (None, None))
        if read_at is None or now - read_at >= _USUAL_FOR:
            async with passing_failures():
                usual = await usual_of(self._pool, programme, now - _LATELY)
            self._usual[programme] = (now, usual)
        return usual

    async def _enter(self, together: Sequence[_Entering]) -> None:
        async with passing_failures():
            await enter(self._pool, [each.request for each in together])
        for each in together:
            each.answer(None)


async def closed_quotes(
    programmes: Callable[[], Programmes],
    ended: Callable[[Sequence[UUID]], Awaitable[Mapping[UUID, str]]],
    quotes: Sequence[Exchange],
) -> Mapping[UUID, str]:
    """Why some of these quotes are good no more: their programme is not in force, or their link has ended. Raises
    `Unavailable`.
    """
    names = programmes().by_name
    over = {each.exchange_id: f"{each.programme} is paused or over" for each in quotes if each.programme not in names}
    gone = await ended([each.link_id for each in quotes])
    return over | {each.exchange_id: gone[each.link_id] for each in quotes if each.link_id in gone}
