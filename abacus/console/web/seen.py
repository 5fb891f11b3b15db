"""What a person looked at of late: the pages of things, kept by the browser until the person signs out."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from abacus.console.web.packed import packed, unpacked

_MOST: Final = 8
_LONGEST: Final = 80  # of a title; longer ones are cut


class Seen(NamedTuple):
    """A thing that has a page, and what that page is called."""

    kind: str
    name: str
    title: str


def with_newest(seen: Sequence[Seen], newest: Seen) -> Sequence[Seen]:
    """The newest first, each once."""
    others = [each for each in seen if each[:2] != newest[:2]]
    return [newest._replace(title=newest.title[:_LONGEST]), *others][:_MOST]


def text_of(person_id: str, seen: Sequence[Seen]) -> str:
    return packed([person_id, seen])


def read_seen(text: str, person_id: str) -> Sequence[Seen]:
    """Nothing where the text is another person's, or none of ours."""
    try:
        whose, seen = unpacked(text)
        return [Seen(*map(str, each)) for each in seen][:_MOST] if whose == person_id else ()
    except (TypeError, ValueError):
        return ()
