"""Parts of documents that were judged before: in many documents they are equal, and equal parts are read once. Pure."""

from collections.abc import Callable, Hashable
from typing import Any, Final, TypeVar, TypeVarTuple

import orjson

from abacus.core.fields import Fault, Fields

_MOST: Final = 20_000  # parts that are remembered

Part = TypeVar("Part")
Given = TypeVarTuple("Given")


class EqualParts:
    """Of documents of one kind, as JSON has them. Only parts without a fault are remembered."""

    def __init__(self) -> None:
        self._read: dict[Hashable, Any] = {}

    def read(self, top: Fields, name: str, reader: Callable[[Fields, *Given], Part], *given: *Given) -> Part:
        """What `reader` makes of the field of this name, which is all that it reads of the document, and of the rest
        that it is `given`.
        """
        place = name, orjson.dumps(top.values[name]) if name in top.values else None, given
        if place not in self._read:
            faults: list[Fault] = []
            part = reader(top.part(name, faults), *given)
            if faults:
                return reader(top, *given)
            if len(self._read) >= _MOST:
                self._read.clear()
            self._read[place] = part
        top.pass_over(name)
        found: Part = self._read[place]
        return found
