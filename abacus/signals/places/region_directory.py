"""The regions in force, as each process keeps them: read when an edition comes in force, beside the loop."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from abacus.platform.fresh_copy import Cadence, FreshCopy
from abacus.platform.one_process import in_a_process
from abacus.platform.postgres import Pool
from abacus.signals.places.decide.country_index import CountryIndex
from abacus.signals.places.decide.index_bytes import from_bytes, index_of
from abacus.signals.places.decide.region_index import RegionIndex
from abacus.signals.places.region_store import RegionStore

_WITHIN_S: Final = 120.0  # where no index of this version's format is kept, it is built


@dataclass(frozen=True)
class _Held:
    editions: Mapping[str, int]
    countries: Mapping[str, CountryIndex] = field(compare=False)
    regions: RegionIndex = field(compare=False)


class RegionDirectory(FreshCopy[_Held, RegionIndex]):
    """Serves the regions in force of all countries. Answers go on while an edition is read."""

    def __init__(self, pool: Pool, cadence: Cadence | None = None) -> None:
        store = RegionStore(pool)

        async def load(before: _Held | None) -> _Held:
            editions = await store.in_force()
            if before is not None and editions == before.editions:
                return before
            countries = {}
            for country, number in editions.items():
                if before is not None and before.editions.get(country) == number:
                    countries[country] = before.countries[country]
                else:
                    countries[country] = await _read(store, country, number)
            return _Held(editions, countries, await asyncio.to_thread(RegionIndex, countries, editions))

        super().__init__("regions", load, lambda held: held.regions, cadence or Cadence(load_within_s=_WITHIN_S))


async def _read(store: RegionStore, country: str, number: int) -> CountryIndex:
    written = await store.index(country, number)
    if written is None:
        written = await in_a_process(index_of, await store.drawn(country, number))
        await store.keep_index(country, number, written)
    return await asyncio.to_thread(from_bytes, written)
