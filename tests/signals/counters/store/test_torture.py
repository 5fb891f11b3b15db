"""Whatever happens to the writers, the sums are those of a plain count."""

import pytest

from abacus.signals.counters.store.port import CounterStore
from abacus.signals.counters.types import SlotRange
from tests.signals.counters.store.torture import Torture, expected, expected_slots


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.night) for seed in (2, 3))])
async def test_sums_equal_a_plain_count(store: CounterStore, seed: int) -> None:
    torture = Torture(store, seed)
    await torture.run()
    sums = expected(torture.partitions)
    found = await store.sums(list(sums))
    wrong = [(asked, sum_, told) for (asked, sum_), told in zip(sums.items(), found, strict=True) if sum_ != told]
    assert wrong == []
    series = expected_slots(torture.partitions)
    told = await store.slots([SlotRange(key, *slots) for key, slots in series])
    assert [dict(each) for each in told] == list(series.values())
    assert min(torture.happened.values()) > 0
    assert torture.happened.keys() >= {"crash amid", "crash after", "rebalance", "saved late"}
