"""The awards and transactions that a message of any kind speaks of, read without a check. Pure."""

import base64
import binascii
import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from abacus.core.ids import (
    CAMPAIGNS,
    EVENTS,
    EXCHANGES,
    EXPIRIES,
    IMPORTS,
    JOURNEYS,
    PARTNERS,
    REDEMPTIONS,
    REFUNDS,
    TRANSACTIONS,
    event_key,
    refund_key,
    transaction_key,
)
from abacus.platform.sqs.compressed_envelope import seen_through

_PREFIXES: Final = (
    *(TRANSACTIONS, EVENTS, REFUNDS, PARTNERS, "ops:", "adjust:", IMPORTS, EXPIRIES),
    *(CAMPAIGNS, JOURNEYS, REDEMPTIONS, EXCHANGES),
)


class Wanted(NamedTuple):
    """An award's key, or the id of a transaction or refund, perhaps of a source."""

    text: str
    source: str | None = None

    @property
    def is_key(self) -> bool:
        return self.source is None and self.text.startswith(_PREFIXES)

    @property
    def keys(self) -> list[str]:
        """The keys that are known without a message."""
        if self.is_key:
            return [self.text]
        if self.source is None:
            return []
        return [transaction_key(self.source, self.text), refund_key(self.source, self.text)]

    @property
    def word(self) -> str:
        """A text that stands in each message that speaks of it."""
        return (self.is_key and _of_key(self.text, None).ids[0]) or self.text

    def is_meant_by(self, mention: "Mention") -> bool:
        if self.is_key:
            return mention.key == self.text
        return self.text in mention.ids and self.source in {None, mention.source}


class Mention(NamedTuple):
    """A transaction or an award in a message. The source of a partner's award is the partner."""

    key: str | None
    source: str | None
    country: str | None
    ids: tuple[str, ...]


def mentions(body: bytes | str) -> Iterator[Mention]:
    """Every award or transaction in a transaction, an award, or an envelope of either, compressed or not; none in what
    is not JSON.
    """
    try:
        document = json.loads(seen_through(body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body))
    except (ValueError, RecursionError):
        return
    yield from _of(document)


def _of(document: Any) -> Iterator[Mention]:
    match document:
        case {"awards": list(awards)}:
            for award in awards:
                yield from _of(award)
        case {"retries": list(retries)}:
            for retry in retries:
                yield from _of_retry(retry)
        case {"key": str(key)}:
            yield _of_key(key, _text(document.get("country")))
        case {"transaction_id": str()} | {"refund_id": str()}:
            yield _of_transaction(document)


def _of_retry(retry: Any) -> Iterator[Mention]:
    match retry:
        case {"transaction": str(text)}:
            yield from mentions(text)
        case {"transaction_base64": str(text)}:
            try:
                yield from mentions(base64.b64decode(text))
            except binascii.Error:
                return


def _of_key(key: str, country: str | None) -> Mention:
    kind, _, rest = key.partition(":")
    source, _, id_ = rest.partition(":")
    if kind == "event":
        id_ = id_.partition(":")[2]
    return Mention(key, source or None, country, (id_,))


def _of_transaction(document: dict[str, Any]) -> Mention:
    source, kind, country = document.get("source"), document.get("type"), _text(document.get("country"))
    transaction_id, refund_id = document.get("transaction_id"), document.get("refund_id")
    ids = tuple(each for each in (transaction_id, refund_id) if isinstance(each, str))
    if not isinstance(source, str):
        return Mention(None, None, country, ids)
    match kind, transaction_id, refund_id:
        case "transaction.refunded", _, str():
            return Mention(refund_key(source, refund_id), source, country, ids)
        case "transaction.completed", str(), _:
            return Mention(transaction_key(source, transaction_id), source, country, ids)
        case str(), str(), _:
            return Mention(event_key(source, kind, transaction_id), source, country, ids)
        case _:
            return Mention(None, source, country, ids)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
