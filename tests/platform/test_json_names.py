"""A name that stands twice is found wherever it is, however the message is written; and nothing else is refused."""

import json
from collections.abc import Callable, Iterator

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abacus.core.errors import SetAside
from abacus.platform.json_names import check_names

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text('a,:"\\é\n旅', max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('ab,"\\é', min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
WRITERS: dict[str, Callable[[object], bytes]] = {
    "compact": orjson.dumps,
    "in ASCII": lambda value: json.dumps(value).encode(),
    "on lines": lambda value: json.dumps(value, indent=1, ensure_ascii=False).encode(),
}


def objects_in(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects_in(each)


@pytest.mark.parametrize("writer", WRITERS)
@given(value=values)
@settings(max_examples=150, deadline=None)
def test_what_names_each_member_once_passes(writer: str, value: object) -> None:
    check_names(WRITERS[writer](value))


@pytest.mark.long
@given(value=st.dictionaries(st.sampled_from("ab,é"), values, min_size=1), place=st.integers(0), spaced=st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_name_that_stands_twice_is_told(value: dict[str, object], place: int, *, spaced: bool) -> None:
    """In any object of the document."""
    found = [each for each in objects_in(value) if each]
    twice = found[place % len(found)]
    name = next(iter(twice))
    mark = "a name that nobody has"
    repeated = {**twice, mark: twice[name]}
    twice.clear()
    twice.update(repeated)
    text = json.dumps(value, ensure_ascii=spaced, separators=(" , ", " : ") if spaced else (",", ":"))
    body = text.replace(json.dumps(mark), json.dumps(name, ensure_ascii=spaced)).encode()
    with pytest.raises(SetAside, match="stands twice in one object") as fault:
        check_names(body)
    assert fault.value.detail == f"{name!r} stands twice in one object"
