"""What journeys have taken in of segments, in Postgres: members by their numbers, as bitmaps."""

from typing import Final, NamedTuple

from abacus.platform.postgres import Pool, passing_failures
from abacus.platform.sql import Statement, columns, parameters
from abacus.signals.segments.types import Members

BEFORE_ALL: Final = -1


class Wave(NamedTuple):
    """The members in the version of the segment that was looked at last, of these the members who join it by that
    version, and the number up to which they have come to the gate.
    """

    version: int
    present: Members
    joining: Members
    upto: int = BEFORE_ALL

    def following(self, most: int) -> list[int]:
        """The next numbers of members who join."""
        first = self.joining.rank(self.upto) if self.upto >= 0 else 0
        return list(self.joining[first : first + most])

    def after(self, version: int, present: Members) -> "Wave":
        """The wave of members who are in a later version, and were not in this one."""
        return Wave(version, present, present - self.present)


class _Row(NamedTuple):
    """A row of `journey_wave`."""

    journey: str
    wave: str
    version: int
    present: bytes
    joining: bytes
    upto: int


_READ: Final = Statement("""
select version, present, joining, upto from journey_wave where journey = :journey and wave = :wave
""")
_WRITE: Final = Statement(f"""
insert into journey_wave ({columns(_Row)}) values ({parameters(_Row)})
on conflict (journey, wave) do update
set version = excluded.version, present = excluded.present, joining = excluded.joining, upto = excluded.upto
""")
_MOVE: Final = Statement("update journey_wave set upto = :upto where journey = :journey and wave = :wave")


class WaveStore:
    """Every method raises `Unavailable`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def read(self, journey: str, wave: str) -> Wave | None:
        async with passing_failures():
            row = await self._pool.fetchrow(*_READ(journey=journey, wave=wave))
        if row is None:
            return None
        version, present, joining, upto = row
        return Wave(version, Members.deserialize(present), Members.deserialize(joining), upto)

    async def write(self, journey: str, name: str, wave: Wave) -> None:
        row = _Row(journey, name, wave.version, wave.present.serialize(), wave.joining.serialize(), wave.upto)
        async with passing_failures():
            await self._pool.execute(*_WRITE(**row._asdict()))

    async def move(self, journey: str, name: str, upto: int) -> None:
        """Members up to this number have come to the gate."""
        async with passing_failures():
            await self._pool.execute(*_MOVE(journey=journey, wave=name, upto=upto))
