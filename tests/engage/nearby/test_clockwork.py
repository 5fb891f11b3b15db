"""Until the moment that is told, no offer opens or closes by the clock."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from abacus.engage.nearby.decide.clockwork import unchanged_until
from abacus.engage.offers.decide.armed import Armed
from abacus.engage.offers.decide.asked import Asked, micros
from abacus.engage.offers.decide.asker import Asker
from tests.engage.offers.examples import PERCENT, benefit, item, offer, question

_AUTUMN = datetime(2026, 10, 24, 20, tzinfo=UTC)  # the clocks of Berlin are put back in the night
_HALF = datetime(2026, 10, 3, 5, tzinfo=UTC)  # those of Lord Howe are put forward, by half an hour
_spans = st.lists(st.tuples(st.integers(0, 1400), st.integers(1, 40)), max_size=2).map(
    lambda drawn: tuple((begin, begin + length) for begin, length in drawn)
)


@given(
    st.sampled_from((_AUTUMN, _HALF)),
    st.integers(0, 20 * 3600),
    st.sampled_from(("Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu")),
    st.frozensets(st.integers(0, 6), max_size=6),
    _spans,
)
def test_nothing_changes_before(
    night: datetime, seconds: int, zone: str, weekdays: frozenset[int], hours: tuple[tuple[int, int], ...]
) -> None:
    now = night + timedelta(seconds=seconds)
    ends = now + timedelta(hours=1 + seconds % 10)
    armed = Armed(
        offer(1, benefit(PERCENT, "10"), timezone=zone, weekdays=weekdays, hours=hours, starts_at=night, ends_at=ends),
        None,
    )

    def admits(at: datetime) -> bool:
        return armed.admits(Asked(Asker("SG", at), question(item(100)), ()))

    until = unchanged_until([armed], Asked(Asker("SG", now), question(item(100)), ()))
    assert until > micros(now)
    first = admits(now)
    minutes = (until - micros(now)) // 60_000_000
    assert {admits(now + timedelta(minutes=each)) for each in range(min(minutes, 200))} <= {first}
    last = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=until - 1)
    assert admits(last) is first
