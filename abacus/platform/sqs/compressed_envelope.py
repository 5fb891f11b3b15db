"""An envelope that travels compressed: JSON that says so, and inside it the envelope as zstd in base64. Pure.

The envelope within is one of version 1, in the bytes in which it would have been sent. Nothing is unpacked beyond
`MAX_UNPACKED`, whatever a sender wrote.
"""

import binascii
import re
from base64 import b64encode
from typing import Annotated, Final, Literal, NamedTuple, NotRequired

import cramjam
from pydantic import Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from abacus.core.errors import Reason, SetAside
from abacus.platform.json_names import check_names
from abacus.platform.validation import faults_of, first_fault

FORMAT: Final = "zstd+base64"
MAX_UNPACKED: Final = 240 * 1024  # an envelope that was unpacked still fits into a message
_LEVEL: Final = 1  # a level more takes twice the time for a tenth of the bytes


class CompressedEnvelope(TypedDict):
    """The body of a message whose envelope is compressed. `v` stands first; `count` says how many items the envelope
    within has, `bytes` how long it is. `by` and `mac` are there where producers sign envelopes, and vouch for all of
    it.
    """

    v: Literal[2]
    format: Literal["zstd+base64"]
    count: Annotated[int, Field(strict=True, ge=1)]
    bytes: Annotated[int, Field(strict=True, ge=1, le=MAX_UNPACKED)]
    envelope: str
    by: NotRequired[str]
    mac: NotRequired[str]


class Unpacked(NamedTuple):
    """The envelope within, and how many items it is said to have."""

    body: bytes
    items: int


_ENVELOPE: Final[TypeAdapter[CompressedEnvelope]] = TypeAdapter(CompressedEnvelope)

_BEGINS: Final = re.compile(rb'\s*\{\s*"v"\s*:\s*2\s*[,}]')


def compressed(body: bytes, count: int) -> str:
    """The envelope of so many items, compressed."""
    packed = b64encode(bytes(cramjam.zstd.compress(body, _LEVEL))).decode("ascii")
    return f'{{"v":2,"format":"{FORMAT}","count":{count},"bytes":{len(body)},"envelope":"{packed}"}}'


def is_compressed(body: bytes) -> bool:
    """Whether the body says that it is a compressed envelope."""
    return _BEGINS.match(body) is not None


def unpack(body: bytes) -> Unpacked:
    """Raises `SetAside` for a compressed envelope that cannot be unpacked, or is not what it says."""
    envelope = _checked(body)
    size = envelope["bytes"]
    unpacked = bytearray(size)
    try:
        written = cramjam.zstd.decompress_into(_packed(envelope["envelope"]), unpacked)
    except binascii.Error as error:
        raise SetAside(Reason.UNDECODABLE, f"not a compressed envelope: broken base64: {error}") from None
    except cramjam.DecompressionError as error:
        detail = f"not a compressed envelope: not zstd of {size} bytes or fewer: {error}"
        raise SetAside(Reason.UNDECODABLE, detail) from None
    if written != size:
        raise SetAside(Reason.INVALID, f"not a compressed envelope: {written} bytes, and it says {size}")
    return Unpacked(bytes(unpacked), envelope["count"])


def seen_through(body: bytes) -> bytes:
    """What a person reads: the envelope within, also where it is not what it says; another body as it is.

    Of one that is broken or too long there is what can be unpacked of it.
    """
    if not is_compressed(body):
        return body
    unpacked = bytearray(MAX_UNPACKED)
    try:
        written = cramjam.zstd.decompress_into(_packed(_ANY.validate_json(body)["envelope"]), unpacked)
    except (ValidationError, binascii.Error):
        return body
    except cramjam.DecompressionError:
        return bytes(unpacked).rstrip(b"\0") or body
    return bytes(unpacked[:written])


class _Any(TypedDict):
    envelope: str


_ANY: Final[TypeAdapter[_Any]] = TypeAdapter(_Any)


def _checked(body: bytes) -> CompressedEnvelope:
    try:
        envelope = _ENVELOPE.validate_json(body)
    except ValidationError as error:
        places = {fault["loc"] for fault in faults_of(error)}
        unknown = {("v",), ("format",)} & places
        reason = Reason.UNDECODABLE if () in places else Reason.UNSUPPORTED if unknown else Reason.INVALID
        raise SetAside(reason, f"not a compressed envelope: {first_fault(error)}") from None
    if body.count(b",") != len(envelope) - 1 or b"\\" in body:
        check_names(body)
    return envelope


def _packed(text: str) -> bytes:
    """Raises `binascii.Error`."""
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError as error:  # letters beyond ASCII
        raise binascii.Error(str(error)) from None
