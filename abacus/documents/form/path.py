"""Where something stands in a document: names of tables and places of arrays, as one text. Pure."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from abacus.core.fields import is_name

Path: TypeAlias = tuple[str | int, ...]

_PLAIN: Final = r"[A-Za-z0-9_-]+"
_PART: Final = re.compile(rf'\.?(?:(?P<name>{_PLAIN})|(?P<quoted>"(?:[^"\\]|\\.)*")|\[(?P<place>[0-9]{{1,6}})\])')


def written(path: Path) -> str:
    """`steps[0].do[1]."en-SG"`: what `read` reads again."""
    text = ""
    for each in path:
        if isinstance(each, int):
            text += f"[{each}]"
        else:
            text += f"{'.' if text else ''}{each if re.fullmatch(_PLAIN, each) else json.dumps(each)}"
    return text


def read(text: str) -> Path | None:
    """None for what is no path."""
    path: list[str | int] = []
    at = 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None:
            return None
        at = part.end()
        if part["place"] is not None:
            path.append(int(part["place"]))
        elif part["name"] is not None:
            path.append(part["name"])
        else:
            path.append(str(json.loads(part["quoted"], strict=False)))
    return tuple(path)


def as_faults_have_it(path: Path) -> str:
    """As the readers of documents write the path of a fault."""
    text = ""
    for each in path:
        if isinstance(each, int):
            text += f"[{each}]"
        else:
            text += f"{'.' if text else ''}{each if is_name(each) else json.dumps(each[:40])}"
    return text


def found(document: Any, path: Path) -> Any:
    """What stands there; None where nothing does."""
    at = document
    for each in path:
        if isinstance(each, str) and isinstance(at, Mapping):
            at = at.get(each)
        elif isinstance(each, int) and isinstance(at, Sequence) and not isinstance(at, str) and each < len(at):
            at = at[each]
        else:
            return None
    return at
