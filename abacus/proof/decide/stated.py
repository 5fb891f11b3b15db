"""What the log has of a card, a person or a partner, beside what that is now. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

_LONGEST: Final = 20  # characters of a digest that are told


def faults_of_state(recorded: str | None, now: str | None) -> Iterator[str]:
    """The faults of a thing, given its state as the last entry about it has it, and as it is. A field that the entry
    does not know is younger than the entry.
    """
    if recorded is None:
        yield "the log has no entry of it"
    elif now is None:
        yield "the log has it, and it is not there"
    else:
        yield from _differences("", json.loads(recorded), json.loads(now))


def _differences(path: str, recorded: Any, now: Any) -> Iterator[str]:
    if isinstance(recorded, Mapping) and isinstance(now, Mapping):
        for name in recorded:
            yield from _differences(f"{path} {name}", recorded[name], now.get(name))
        if path:  # tokens, keys and versions are entered one by one; a field of the thing itself may be new
            for name in now.keys() - recorded.keys():
                yield f"the log does not have its{path} {name}"
    elif recorded != now:
        yield f"its{path} is {_told(now)}, the log has {_told(recorded)}"


def _told(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST or " " in text or "-" in text else f"{text[:8]}…"
