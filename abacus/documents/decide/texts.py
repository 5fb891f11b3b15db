"""The texts of a document: none holds what no database keeps, and all together have a bound. Pure."""

import re
from collections.abc import Mapping
from typing import Final

from abacus.core.fields import Fault

LARGEST: Final = 100_000  # characters of all texts of a document together
_UNKEPT: Final = re.compile("[\x00\ud800-\udfff]")


def faults_of_text(document: Mapping[str, object]) -> list[Fault]:
    """Names and values alike, however deep they stand."""
    faults: list[Fault] = []
    total = 0
    waiting: list[tuple[str, object]] = [("document", name) for name in document]
    waiting += document.items()
    while waiting:
        path, value = waiting.pop()
        match value:
            case str():
                total += len(value)
                if _UNKEPT.search(value):
                    faults.append(Fault(path, "holds a NUL character, or half of a surrogate pair"))
            case Mapping():
                waiting += [(f"{path}.{name}", each) for name, each in value.items()]
                waiting += [(path, name) for name in value]
            case list() | tuple():
                waiting += [(f"{path}[{place}]", each) for place, each in enumerate(value)]
            case _:
                pass
    if total > LARGEST:
        faults.append(Fault("document", f"{total:,} characters of text; write at most {LARGEST:,}"))
    return faults
