"""The algebra of segments is that of Python's sets."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.core.errors import Refused
from abacus.signals.segments.decide.change import check_name, members_after, split_label
from abacus.signals.segments.types import How, Members

pytestmark = pytest.mark.once

# Close together and far apart, so that bitmaps have containers of every kind.
NUMBERS = st.one_of(
    st.frozensets(st.integers(0, 200)),
    st.frozensets(st.integers(0, 2**31 - 1)),
    st.builds(
        lambda first, length: frozenset(range(first, first + length)), st.integers(0, 200_000), st.integers(0, 9_000)
    ),
)
Algebra = Callable[[frozenset[int], frozenset[int]], frozenset[int]]
OF_SETS: dict[How, Algebra] = {
    How.LOAD: lambda _, given: given,
    How.ADD: lambda before, given: before | given,
    How.REMOVE: lambda before, given: before - given,
    How.INTERSECT: lambda before, given: before & given,
    How.UNION: lambda before, given: before | given,
    How.SUBTRACT: lambda before, given: before - given,
    How.DROP: lambda _, __: frozenset(),
}


@pytest.mark.parametrize("how", How)
@given(before=NUMBERS, given_=NUMBERS, erased=st.frozensets(st.integers(0, 200)))
def test_a_change_is_that_of_a_set_without_the_erased(
    how: How, before: frozenset[int], given_: frozenset[int], erased: frozenset[int]
) -> None:
    after = members_after(how, Members(before), Members(given_), Members(erased))
    assert set(after) == OF_SETS[how](before, given_) - erased
    assert Members.deserialize(after.serialize()) == after


@pytest.mark.parametrize("name", ["", "Vip", "1st", "a-b", "a.b", "v" * 65, "vip ", "vip\n"])
def test_a_name_that_a_rule_could_not_say_is_refused(name: str) -> None:
    with pytest.raises(Refused, match="is no name of a segment"):
        check_name(name)


@pytest.mark.parametrize(
    ("label", "expected"),
    [("vip", ("vip", None)), ("vip@3", ("vip", 3)), ("vip@0", None), ("vip@", None), ("@1", None), ("vip@1@2", None)],
)
def test_a_label_has_a_name_and_perhaps_a_version(label: str, expected: tuple[str, int | None] | None) -> None:
    if expected is not None:
        assert split_label(label) == expected
    else:
        with pytest.raises(Refused, match="is no segment; write NAME"):
            split_label(label)
