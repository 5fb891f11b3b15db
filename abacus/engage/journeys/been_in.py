"""How often members were in journeys, read from their seats."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from abacus.engage.journeys.facts import Been, BeenIn
from abacus.platform import slices
from abacus.platform.postgres import Pool
from abacus.platform.sql import Statement, arrays, unnested


class _Place(NamedTuple):
    member_id: str
    journey: str


_BEEN: Final = Statement(f"""
select member_id, journey, count(*), bool_or(s.left_at is null)
from {unnested(_Place)} join seat s using (member_id, journey) group by member_id, journey
""")


def been_in(pool: Pool) -> BeenIn:
    """Reads the seats of members in their slices."""

    async def look(slice_: slices.Slice, part: Sequence[tuple[str, str]]) -> Iterable[tuple[tuple[str, str], Been]]:
        places = [_Place(*each) for each in part]
        async with slice_.at() as connection:
            rows = await connection.fetch(*_BEEN(**arrays(_Place, places)))
        return [((row[0], row[1]), Been(row[2], row[3])) for row in rows]

    async def been(asked: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Been]:
        split = await slices.split(pool, sorted(asked), look, member_of=lambda each: each[0])
        return dict(chain.from_iterable(split.done))

    return been
