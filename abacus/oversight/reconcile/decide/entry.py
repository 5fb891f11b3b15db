"""A message of the transactions topic by itself: its key, its facts, and whether a rule ignores it. Pure."""

from datetime import datetime
from typing import Final, NamedTuple

from abacus.core.errors import Reason, SetAside
from abacus.intake.earning.decide.transaction import Event, Transaction, read_transaction
from abacus.platform.quarantine.types import Item, Stage, origin_of
from abacus.pricing.decide.book import CardBook

UNREADABLE: Final = "(unreadable)"  # in place of the source; no source is called so


class Entry(NamedTuple):
    """A message as it is entered. `item` is the id under which the quarantine would hold it."""

    partition: int
    offset: int
    stamped_at: datetime
    source: str
    key: str | None
    fingerprint: str | None
    ignored: bool
    item: str


def entry_of(body: bytes, book: CardBook, *, topic: str, partition: int, offset: int, stamped_at: datetime) -> Entry:
    # As the calculator sets it aside; the reason is not part of the id.
    item = Item(Stage.TRANSACTION, origin_of(topic, partition, offset), Reason.INVALID, "", body).id
    try:
        transaction = read_transaction(body)
    except SetAside:
        return Entry(partition, offset, stamped_at, UNREADABLE, None, None, ignored=False, item=item)
    ignored, told = is_ignored(transaction, book), (transaction.source, transaction.key, transaction.fingerprint)
    return Entry(partition, offset, stamped_at, *told, ignored, item)


def is_ignored(transaction: Transaction, book: CardBook) -> bool:
    """Whether it is an event that the card of its time does not list."""
    if not isinstance(transaction, Event):
        return False
    try:
        published = book.expected(transaction.country, transaction.occurred_at)
    except SetAside:
        return False
    return transaction.type not in published.card.fixed_awards


def key_of(body: bytes) -> str | None:
    """The key of the award that a message comes to; None if the message cannot be read."""
    try:
        return read_transaction(body).key
    except SetAside:
        return None
