"""Messages that were set aside, and whether they are about a member. Pure."""

import json
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping
from typing import Any, Final

from abacus.platform.sqs.compressed_envelope import compressed, is_compressed, seen_through

_Entry = Any


def without(body: bytes, member_id: str) -> bytes | None:
    """The body without the parts about the member; None if nothing else is in it.

    An envelope keeps the parts about others. A message that cannot be read is about the member if it names the member
    anywhere. Of a compressed envelope the one within is looked at.
    """
    text = seen_through(body)
    document = _read(text)
    if document is None:
        return None if _names(text, member_id) else body
    if isinstance(document, dict):
        for name, is_about in _LISTS.items():
            entries = document.get(name)
            if isinstance(entries, list):
                kept = [entry for entry in entries if not is_about(entry, member_id)]
                if len(kept) == len(entries):
                    return body
                if not kept:
                    return None
                rest = _written({**document, name: kept})
                return compressed(rest, len(kept)).encode() if is_compressed(body) else rest
    return None if _is_about(document, member_id) else body


def renamed_accounts(body: str, member_id: str, pseudonym: str) -> str:
    """An expiry envelope with the member's accounts under the pseudonym."""
    document = json.loads(body)
    accounts = [[pseudonym if member == member_id else member, program] for member, program in document["accounts"]]
    return body if accounts == document["accounts"] else _written({**document, "accounts": accounts}).decode()


def _is_about(document: Any, member_id: str) -> bool:
    if isinstance(document, dict) and isinstance(document.get("member_id"), str):
        return bool(document["member_id"] == member_id)
    return _holds(document, member_id)


def _is_about_account(entry: _Entry, member_id: str) -> bool:
    return _holds(entry[:1] if isinstance(entry, list) else entry, member_id)


def _is_about_retried(entry: _Entry, member_id: str) -> bool:
    """An untouched transaction, as text or in base64."""
    if not isinstance(entry, dict):
        return _holds(entry, member_id)
    text, coded = entry.get("transaction"), entry.get("transaction_base64")
    try:
        body = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else b64decode(coded or "")
    except (TypeError, ValueError, NotBase64):
        return _holds(entry, member_id)
    return without(body, member_id) is None


_LISTS: Final[Mapping[str, Callable[[_Entry, str], bool]]] = {
    "awards": _is_about,
    "retries": _is_about_retried,
    "accounts": _is_about_account,
}


def _holds(value: Any, member_id: str) -> bool:
    if isinstance(value, Mapping):
        return any(_holds(each, member_id) for pair in value.items() for each in pair)
    if isinstance(value, list):
        return any(_holds(each, member_id) for each in value)
    return str(value) == member_id


def _names(body: bytes, member_id: str) -> bool:
    return re.search(rb"(?<!\w)" + re.escape(member_id.encode()) + rb"(?!\w)", body) is not None


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _written(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


_DEEP: Final = 3  # a document in the papers of a command is JSON in JSON, and may hold a text that is JSON


def written(text: str) -> list[str]:
    """The text, and the text as JSON and CSV write it, also within another document. A search for the text alone does
    not find an id with a quote, a backslash or a letter beyond ASCII there.
    """
    forms = {text}
    for _ in range(_DEEP):
        forms |= {again for each in forms for again in _once(each)}
    return sorted(forms)


def _once(text: str) -> tuple[str, str, str]:
    return json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1], text.replace('"', '""')
