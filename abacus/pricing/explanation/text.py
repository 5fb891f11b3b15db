"""Explanations as they are stored: written once, as JSON text, and read by kind and version. Pure.

The text is hashed as it is written (docs/adr/0004), so an explanation is always carried as that text.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Final, NamedTuple, get_args

import orjson
from pydantic import TypeAdapter, ValidationError

from abacus.core.errors import Reason, SetAside
from abacus.platform.validation import first_fault
from abacus.pricing.explanation.types import BY_FIELD, VERSION, Explanation

VERSION_FIELD: Final = "v"
TRANSACTION_FIELD: Final = "transaction"
REDEMPTION_FIELD: Final = "redemption"


class UnknownExplanation(SetAside):
    """The explanation is of a version or a kind that this version of Abacus does not know. A later one may."""

    def __init__(self, detail: str) -> None:
        super().__init__(Reason.UNSUPPORTED, detail)


class UnreadableExplanation(SetAside):
    """The explanation lacks a field of its version and kind, or has a wrong one."""

    def __init__(self, detail: str) -> None:
        super().__init__(Reason.INVALID, detail)


class _Form(NamedTuple):
    """How a kind is written: its fields, the key of each, and the keys that are left out when there is no value."""

    names: tuple[str, ...]
    keys: tuple[str, ...]
    left_out: frozenset[str]

    @classmethod
    def of(cls, kind: type[Explanation]) -> "_Form":
        names = [field.name for field in fields(kind)]
        keys = {name: _ALIASES.get(name, name) for name in names}
        left_out = frozenset(keys[field.name] for field in fields(kind) if field.default is None)
        return cls(tuple(names), tuple(keys.values()), left_out)


# Python reserves the word.
_ALIASES: Final[Mapping[str, str]] = {"imported_from": "import"}
_FORMS: Final[Mapping[type, _Form]] = {kind: _Form.of(kind) for kind in get_args(Explanation)}
_VALIDATORS: Final = {kind: TypeAdapter[Explanation](kind).validator for kind in get_args(Explanation)}


def text_of(explanation: Explanation) -> bytes:
    """The JSON text, in this version."""
    names, keys, left_out = _FORMS[type(explanation)]
    document: dict[str, Any] = {VERSION_FIELD: VERSION}
    for name, key in zip(names, keys, strict=True):
        value = getattr(explanation, name)
        if value is not None or key not in left_out:
            document[key] = value
    return orjson.dumps(document)


def naming_transaction(calculated: bytes, key: str) -> bytes:
    """The text of what a card priced, with the key of the transaction."""
    return _naming(calculated, TRANSACTION_FIELD, key)


def naming_redemption(calculated: bytes, redemption_id: str) -> bytes:
    """The text of what a card priced, with the id of what was redeemed with it."""
    return _naming(calculated, REDEMPTION_FIELD, redemption_id)


def _naming(calculated: bytes, field: str, value: str) -> bytes:
    return b'%b,"%b":%b}' % (calculated[:-1], field.encode(), orjson.dumps(value))


def read(text: bytes) -> Explanation:
    """The explanation in a text, of any known version. Fields that its kind does not have are passed over. Raises
    `UnknownExplanation` and `UnreadableExplanation`.
    """
    try:
        document = orjson.loads(text)
    except ValueError as error:
        raise UnreadableExplanation(f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise UnreadableExplanation(f"not an object but a {type(document).__name__}")
    kind = _kind_of(document)
    try:
        explanation: Explanation = _VALIDATORS[kind].validate_json(text, strict=True)
    except ValidationError as error:
        raise UnreadableExplanation(first_fault(error)) from None
    return explanation


def _kind_of(document: Mapping[str, Any]) -> type[Explanation]:
    version = document.get(VERSION_FIELD, 0)  # a text without a version is one of version 0
    if type(version) is not int or not 0 <= version <= VERSION:
        raise UnknownExplanation(f"version {version!r}, and this version of Abacus knows none after {VERSION}")
    for field, kind in BY_FIELD.items():
        if field in document:
            return kind
    raise UnknownExplanation(f"a kind that has none of the fields {', '.join(BY_FIELD)}")
