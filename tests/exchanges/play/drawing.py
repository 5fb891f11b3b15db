"""What a play draws, and how long it is."""

from typing import Final, TypeVar

from hypothesis import Phase, settings
from hypothesis import strategies as st

from tests.support.tries import tries

Item = TypeVar("Item")

which: Final = st.integers(0, 999)
often: Final = st.sampled_from([True, True, True, False])
seldom: Final = st.sampled_from([False, False, False, True])


def drawn(some: list[Item], n: int, *, keep: bool = False) -> Item:
    """One of them; what is not kept is there no more."""
    place = n % len(some)
    return some[place] if keep else some.pop(place)


def playing(*, by_day: int, by_night: int) -> settings:
    """To make a failure small takes longer than to find it: with `--hypothesis-profile searching`, as by night."""
    number = tries(by_day=by_day, by_night=by_night)
    phases = [Phase.generate] if number == by_day else [Phase.generate, Phase.shrink]
    return settings(max_examples=number, stateful_step_count=50, phases=phases)
