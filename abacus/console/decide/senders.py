"""Whom a message that was set aside is from, and whom it is about, as far as it can be read. Pure."""

from collections.abc import Collection
from itertools import islice
from typing import Final

import orjson

from abacus.console.decide.named import Named, named_in
from abacus.oversight.where.decide.mentions import mentions

_LOOKED_AT: Final = 100  # of the messages in an envelope


def sender_in(body: bytes, key: str | None, partners: Collection[str]) -> Named | None:
    """The campaign or the partner; a source of transactions has no page, and no kind. None where the message names
    none.
    """
    kind, rest = named_in(key or "")
    source = rest.partition(":")[0] if kind else None
    if kind == "campaign" and source:
        return Named(kind, source)
    source = source or next((each.source for each in islice(mentions(body), _LOOKED_AT) if each.source), None)
    if not source:
        return None
    return Named("partner" if source in partners else "", source)


def member_in(body: bytes) -> str | None:
    """The member of a single transaction, award or event."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    member = document.get("member_id") if isinstance(document, dict) else None
    return member if isinstance(member, str) and member else None
