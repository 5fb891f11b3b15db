"""What was used last is kept, within a bound."""

from hypothesis import given
from hypothesis import strategies as st

from abacus.core.recent import Recent


def test_what_was_not_used_for_longest_is_forgotten() -> None:
    recent = Recent[str, int](3)
    for number, key in enumerate("abc"):
        recent.put(key, number)
    assert recent.get("a") == 0
    recent.put("d", 3)
    assert [recent.get(key) for key in "abcd"] == [0, None, 2, 3]
    recent.put("heavy", 9, weight=5)
    assert ([recent.get(key) for key in "acd"], recent.get("heavy")) == ([None] * 3, 9), "the last one is kept"
    recent.put("light", 1)
    assert (recent.get("heavy"), recent.get("light")) == (None, 1)
    recent.clear()
    assert (len(recent), recent.get("light")) == (0, None)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), max_size=40))
def test_it_never_weighs_more_than_it_may(puts: list[tuple[int, int]]) -> None:
    recent, weights = Recent[int, int](6), dict[int, int]()
    for key, weight in puts:
        recent.put(key, weight, weight)
        weights[key] = weight
        kept = [each for each in weights if recent.get(each) is not None]
        assert sum(weights[each] for each in kept) <= max(6, weight)
        assert recent.get(key) == weight
