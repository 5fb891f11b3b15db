"""How partners are reached: a line for each programme, by the carrier of the version that is in force, or was last."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from abacus.core.clock import Clock
from abacus.exchanges.carriers.files.file_partner import FilePartner
from abacus.exchanges.carriers.files.file_rows import FileRows
from abacus.exchanges.carriers.http import PATIENCE, HttpPartner
from abacus.exchanges.carriers.line import Line
from abacus.exchanges.decide.exchange import Exchange
from abacus.exchanges.decide.programme import ByHttp, Carrier, Programme
from abacus.exchanges.decide.programmes import Programmes
from abacus.exchanges.exchanger import MOST, Reached
from abacus.exchanges.programme_versions import ProgrammeVersions
from abacus.exchanges.timeline import Timelines
from abacus.exchanges.types import RecallingPartner
from abacus.platform.reading.breaker import Breaker

AT_ONCE: Final = 128  # connections to a partner
_LOOK_EVERY: Final = timedelta(seconds=30)

# The secrets that are shared with a partner, by its id. Raises `Unavailable`.
SecretsOf = Callable[[str], Awaitable[Sequence[str]]]


class _Opened(NamedTuple):
    """A line, and what it was opened for."""

    carrier: Carrier
    partner: str
    port: RecallingPartner
    reached: Reached


class PartnerLines:
    """One for each process. `close` it at the end."""

    def __init__(
        self,
        programmes: Callable[[], Programmes],
        versions: ProgrammeVersions,
        secrets_of: SecretsOf,
        files: FileRows,
        clock: Clock,
        *,
        timelines: Timelines,
        to_private: bool,
    ) -> None:
        self._programmes = programmes
        self._versions = versions
        self._secrets_of = secrets_of
        self._files = files
        self._clock = clock
        self._timelines = timelines
        self._to_private = to_private
        self._opened: dict[str, _Opened] = {}
        self._lines: list[Line] = []  # also those of carriers that were replaced: somebody may be asking still
        self._last: dict[str, tuple[datetime, Programme | None]] = {}
        self._looked: tuple[datetime, bool] | None = None

    async def reach(self, programme: str) -> Reached | None:
        """None for a programme that nobody knows. Raises `Unavailable`."""
        found = await self._now(programme)
        return None if found is None else self._line(found).reached

    def port(self, programme: Programme) -> RecallingPartner:
        return self._line(programme).port

    def may_begin(self, exchange: Exchange, now: datetime) -> bool:
        return self._is_open(exchange.programme, now)

    async def is_over(self, programme: str, now: datetime) -> bool:
        """Raises `Unavailable`."""
        return not self._is_open(programme, now) and await self._versions.is_over(programme, now)

    async def is_stopped(self) -> bool:
        """Looks every half minute. Raises `Unavailable`."""
        now = self._clock.now()
        if self._looked is None or now - self._looked[0] >= _LOOK_EVERY:
            self._looked = now, (await self._timelines.look()).restored_to is not None
        return self._looked[1]

    async def close(self) -> None:
        for line in self._lines:
            await line.close()

    def _is_open(self, programme: str, now: datetime) -> bool:
        found = self._programmes().by_name.get(programme)
        return found is not None and found.programme.starts_at <= now < found.programme.ends_at

    async def _now(self, name: str) -> Programme | None:
        found = self._programmes().by_name.get(name)
        if found is not None:
            return found.programme
        now, (read_at, last) = self._clock.now(), self._last.get(name, (None, None))
        if read_at is None or now - read_at >= _LOOK_EVERY:
            last = await self._versions.last(name)
            self._last[name] = now, last
        return last

    def _line(self, programme: Programme) -> _Opened:
        opened = self._opened.get(programme.name)
        if opened is None or (opened.carrier, opened.partner) != (programme.carrier, programme.partner):
            opened = self._opened[programme.name] = self._open(programme)
        return opened

    def _open(self, programme: Programme) -> _Opened:
        carrier, partner = programme.carrier, programme.partner
        if not isinstance(carrier, ByHttp):
            port = FilePartner(programme, carrier, self._files, self._clock)
            return _Opened(carrier, partner, port, Reached(port, lambda: MOST, side_by_side=MOST))
        line = Line(carrier.url, to_private=self._to_private, at_once=AT_ONCE)
        self._lines.append(line)

        async def secrets() -> Sequence[str]:
            return await self._secrets_of(partner)

        http = HttpPartner(partner, line, secrets, self._clock, Breaker(f"partner {partner}", PATIENCE))
        return _Opened(carrier, partner, http, Reached(http, http.room))
