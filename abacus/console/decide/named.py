"""A thing by its kind and its name, as subjects and sources of the log write it. Pure."""

from typing import NamedTuple


class Named(NamedTuple):
    """`member` and `bob`. What stands for itself, such as `stream`, has no kind."""

    kind: str
    name: str


def named_in(text: str) -> Named:
    kind, colon, name = text.partition(":")
    return Named(kind, name) if colon and name else Named("", text)
