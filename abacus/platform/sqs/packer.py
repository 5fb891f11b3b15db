"""Packing many items into few messages. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from abacus.platform.sqs.compressed_envelope import MAX_UNPACKED, compressed

MAX_ITEMS: Final = 100
MAX_BYTES: Final = 24 * 1024
MAX_COMPRESSED_ITEMS: Final = 400
MAX_COMPRESSED_BYTES: Final = 48 * 1024  # so five at least go in one call, and AWS bills a message once
_LEAST_COMPRESSED: Final = 2 * 1024  # shorter bodies cost more to compress than to carry


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
    for group in _groups(name, items, max_items, max_bytes):
        yield Packed(_body(name, group).decode(), len(group))


def pack_compressed(
    name: str,
    items: Iterable[bytes],
    *,
    max_items: int = MAX_COMPRESSED_ITEMS,
    max_bytes: int = MAX_COMPRESSED_BYTES,
) -> Iterator[Packed]:
    """As `pack_counting`, in fewer and smaller messages: bodies are compressed. A few items, and one that is long or
    cannot be compressed, travel as they are.
    """
    for group in _groups(name, items, max_items, MAX_UNPACKED):
        yield from _compressed(name, group, max_bytes)


def _compressed(name: str, group: Sequence[bytes], max_bytes: int) -> Iterator[Packed]:
    body = _body(name, group)
    text = compressed(body, len(group)) if _LEAST_COMPRESSED <= len(body) <= MAX_UNPACKED else None
    if text is not None and len(text) <= max_bytes:
        yield Packed(text, len(group))
    elif len(group) == 1 or len(body) < _LEAST_COMPRESSED:
        yield Packed(body.decode(), len(group))
    else:
        half = len(group) // 2
        yield from _compressed(name, group[:half], max_bytes)
        yield from _compressed(name, group[half:], max_bytes)


def _groups(name: str, items: Iterable[bytes], max_items: int, max_bytes: int) -> Iterator[list[bytes]]:
    """The items in order, as many together as a body within the limits holds; one at least."""
    frame = len(_body(name, ())) - 1  # the last item has no comma after it
    held: list[bytes] = []
    size = frame
    for item in items:
        if held and (len(held) == max_items or size + len(item) + 1 > max_bytes):
            yield held
            held, size = [], frame
        held.append(item)
        size += len(item) + 1
    if held:
        yield held


def _body(name: str, items: Sequence[bytes]) -> bytes:
    return b'{"v":1,"%b":[%b]}' % (name.encode(), b",".join(items))
