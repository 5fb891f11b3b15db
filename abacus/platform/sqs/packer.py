"""Packing many items into few messages. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

MAX_ITEMS: Final = 100
MAX_BYTES: Final = 24 * 1024


class Packed(NamedTuple):
    """A message's body and how many of the items it holds."""

    body: str
    items: int


def pack(name: str, items: Iterable[bytes], *, max_items: int = MAX_ITEMS, max_bytes: int = MAX_BYTES) -> Iterator[str]:
    """Bodies `{"v":1,"<name>":[…]}` with the items, JSON each, in order and as few as the limits allow.

    An item that is too large for the limit alone gets a message of its own.
    """
    return (packed.body for packed in pack_counting(name, items, max_items=max_items, max_bytes=max_bytes))


def pack_counting(
    name: str, items: Iterable[bytes], *, max_items: int = MAX_ITEMS, max_bytes: int = MAX_BYTES
) -> Iterator[Packed]:
    """As `pack`, with the number of items in each message."""
    head, tail = f'{{"v":1,"{name}":['.encode(), b"]}"
    frame = len(head) + len(tail) - 1  # the last item has no comma after it
    held: list[bytes] = []
    size = frame
    for item in items:
        if held and (len(held) == max_items or size + len(item) + 1 > max_bytes):
            yield Packed((head + b",".join(held) + tail).decode(), len(held))
            held, size = [], frame
        held.append(item)
        size += len(item) + 1
    if held:
        yield Packed((head + b",".join(held) + tail).decode(), len(held))
