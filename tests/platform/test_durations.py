"""Many durations at once are shown as a histogram of the library shows them one by one."""

import uuid

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Histogram

from abacus.platform.durations import Durations

_BOUNDS = (0.1, 1, 60)


@given(
    st.lists(
        st.lists(st.sampled_from([-1.0, 0.0, 0.05, 0.1, 0.5, 1.0, 59.0, 60.0, 61.0, 1e9]), max_size=20), max_size=3
    )
)
def test_as_one_by_one(rounds: list[list[float]]) -> None:
    name = f"test_{uuid.uuid4().hex}"
    theirs = Histogram(name, "a test's", buckets=_BOUNDS, registry=CollectorRegistry())
    ours = Durations(name, "a test's", buckets=_BOUNDS, registry=CollectorRegistry())
    for values in rounds:
        ours.observe_all(values)
        for value in values:
            theirs.observe(value)
    told, (expected,) = list(ours.collect()), theirs.collect()
    shown = [(each.name, each.labels, each.value) for each in told[0].samples]
    assert sorted(shown, key=str) == sorted(
        ((each.name, each.labels, each.value) for each in expected.samples if not each.name.endswith("_created")),
        key=str,
    )
    assert (told[0].name, told[0].type) == (expected.name, expected.type)
