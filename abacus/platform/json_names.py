"""Messages in JSON that name a member twice are set aside: the next reader may take the other one.

No quick reader tells. A message without such a name is the same when it is written again, or has as many commas at
least; only a message that has more, or that writes letters in other letters, is read a second time.
"""

import json
from typing import Final

import orjson

from abacus.core.errors import Reason, SetAside
from abacus.core.json_names import NamedTwice, each_once

_COMMA: Final = ord(",")
_BACKSLASH: Final = b"\\"


def check_names(body: bytes) -> None:
    """Raises `SetAside` for JSON in which an object names a member twice."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        _read_again(body)  # other readers take more for JSON
    else:
        check_names_read(body, document)


def check_names_read(body: bytes, document: object) -> None:
    """The same, for JSON that orjson has read as this document."""
    try:
        written = orjson.dumps(document)
    except orjson.JSONEncodeError:  # it reads what is nested more deeply than it writes
        _read_again(body)
    else:
        if written != body and (written.count(_COMMA) != body.count(_COMMA) or _BACKSLASH in body):
            _read_again(body)


def _read_again(body: bytes) -> None:
    try:
        _STRICT.decode(body.decode(json.detect_encoding(body), "surrogatepass"))
    except NamedTwice as fault:
        raise SetAside(Reason.INVALID, str(fault)) from None
    except (ValueError, RecursionError) as error:
        raise SetAside(Reason.UNDECODABLE, f"not JSON: {error}") from None


# Numbers stay text: a long one would be refused.
_STRICT: Final = json.JSONDecoder(object_pairs_hook=each_once, parse_int=str, parse_float=str, parse_constant=str)
