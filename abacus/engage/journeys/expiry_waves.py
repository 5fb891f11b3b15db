"""Lets members into journeys some days before their points expire, once for the points of each account and day. A page
of accounts at a time. A process that leads anew looks through the last days once more; nobody enters twice by that. So
it is when the server of a slice is back that was passed over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from abacus.core.clock import Clock
from abacus.core.errors import SetAside, Unavailable
from abacus.engage.journeys.decide.entry import LifeMoment, OfLife
from abacus.engage.journeys.decide.expiring import Days, due_days, enters_at, expires_at
from abacus.engage.journeys.decide.journey import Journey
from abacus.engage.journeys.gate import Comer, comer
from abacus.engage.journeys.wave_gate import WaveGate
from abacus.engage.notify.decide.ahead import Expiry
from abacus.engage.notify.expiring import BEFORE_ALL, AccountCursor, ExpiringAccount, expiring
from abacus.platform.following.passing_over import PassedOver
from abacus.platform.kafka.reader import StartAgain
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.signals.events.types import Value

_DAY: Final = timedelta(days=1)


@dataclass(slots=True)
class _Look:
    """How far the accounts of these days were read."""

    days: Days
    after: AccountCursor = BEFORE_ALL
    is_through: bool = False


class ExpiryWaves:
    """For one process at a time. Every method raises `Unavailable`."""

    def __init__(self, gate: WaveGate, *, cards: Callable[[], CardBook], pool: Pool, clock: Clock) -> None:
        self._gate = gate
        self._cards = cards
        self._pool = pool
        self._clock = clock
        self._looks: dict[tuple[str, int], _Look] = {}
        self._over = PassedOver(pool)

    def forget(self) -> None:
        """Another process may have led meanwhile."""
        self._looks.clear()

    async def step(self, journey: Journey) -> int:
        """The next page of accounts; the number of them, 0 when none is left for now."""
        how, now = journey.entry.how, self._clock.now()
        if not isinstance(how, OfLife) or how.moment is not LifeMoment.POINTS_EXPIRING:
            return 0
        if not journey.starts_at <= now < journey.ends_at:
            return 0
        try:
            await self._over.look()
        except StartAgain:  # as another process would
            self._looks.clear()
        zone = self._zone(journey, now)
        look = self._look((journey.name, how.days), due_days(now, how.days, zone))
        if look.is_through:
            return 0
        accounts = await self._accounts(journey.country, look)
        if not accounts:
            look.is_through = True
            return 0
        expiries = [expiry for account in accounts for expiry in account.expiries()]
        await self._gate.let_in(journey, [_comer(journey, how.days, each, zone) for each in expiries], self._over)
        look.after = accounts[-1].place
        return len(accounts)

    async def _accounts(self, country: str, look: _Look) -> list[ExpiringAccount]:
        """The next ones, of slices whose servers are there."""
        try:
            return await expiring(self._pool, country, look.days, look.after, await self._over.reached())
        except Unavailable:
            if not await self._over.find():
                raise
            return await self._accounts(country, look)

    def _look(self, place: tuple[str, int], due: Days) -> _Look:
        """The present look; the next one, at the days that came since, once that is through."""
        look = self._looks.get(place)
        if look is None:
            look = self._looks[place] = _Look(due)
        elif look.is_through and look.days.last < due.last:
            look = self._looks[place] = _Look(Days(max(due.first, look.days.last + _DAY), due.last))
        return look

    def _zone(self, journey: Journey, now: datetime) -> ZoneInfo:
        """Points expire by the clock of the country's card."""
        try:
            return self._cards().in_force(journey.country, now).card.zone
        except SetAside as fault:
            raise Unavailable("journeys", f"{journey.label}: {fault.detail}") from fault


def _comer(journey: Journey, ahead: int, expiry: Expiry, zone: ZoneInfo) -> Comer:
    """The member is at the gate at the moment of the wave, which may have passed."""
    day, key = expiry.expires_on, f"{LifeMoment.POINTS_EXPIRING}:{expiry.program}:{expiry.expires_on}"
    context: dict[str, Value] = {"points": expiry.points, "expires_at": expires_at(day, zone)}
    return comer(journey, key, expiry.member_id, enters_at(day, ahead, zone), context)
