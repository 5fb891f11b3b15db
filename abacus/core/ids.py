"""Idempotency keys: an award keeps its key however often it is delivered."""

import hashlib
from collections.abc import Sequence
from typing import Final
from uuid import UUID

_NAMESPACE: Final = UUID("6f1f2f39-3a4e-5d0a-9a55-5b1a6a0c7a11").bytes

# The pattern of ids wherever they come in. A source and a type hold no colon, because the key joins them with one;
# control characters and the two non-characters are refused because SQS and Postgres refuse them.
NAME_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


def _printable(length: int) -> str:
    """Up to `length` printable characters, with no space at either end."""
    inner, edge = r"\x00-\x1f\x7f-\x9f\ufffe\uffff", r"\x00-\x20\x7f-\x9f\ufffe\uffff"
    return rf"^[^{edge}](?:[^{inner}]{{0,{length - 2}}}[^{edge}])?$"


ID_PATTERN: Final = _printable(128)
PROGRAM_PATTERN: Final = r"^[A-Z][A-Z0-9_]{0,15}$"
EVENT_ID_PATTERN: Final = _printable(256)
KEY_PATTERN: Final = _printable(400)
IDEMPOTENCY_KEY_PATTERN: Final = r"^[\x21-\x7e]{1,255}$"  # characters that every header carries


TRANSACTIONS: Final = "txn:"  # how the keys of transactions begin
REFUNDS: Final = "refund:"
EVENTS: Final = "event:"


def transaction_key(source: str, transaction_id: str) -> str:
    return f"{TRANSACTIONS}{source}:{transaction_id}"


def refund_key(source: str, refund_id: str) -> str:
    return f"{REFUNDS}{source}:{refund_id}"


def event_key(source: str, type_: str, transaction_id: str) -> str:
    return f"{EVENTS}{source}:{type_}:{transaction_id}"


CAMPAIGNS: Final = "campaign:"  # how the keys of what campaigns do begin


def campaign_key(campaign: str, event_key: str) -> str:
    """The claim of an event in a campaign. The key of a step's effect is this, a colon, and the number of the step."""
    return f"{CAMPAIGNS}{campaign}:{event_key}"


JOURNEYS: Final = "journey:"  # how the keys of what journeys do begin


def journey_effect_key(journey: str, visit: int, member_id: str, node: int, turn: int) -> str:
    """Of a deed at a node. `turn` is how often the member has come round a loop."""
    return f"{JOURNEYS}{journey}:{visit}:{member_id}:{node}{f'.{turn}' if turn else ''}"


REDEMPTIONS: Final = "redemption:"  # how the keys of the points of redemptions begin


def redemption_key(redemption_id: UUID) -> str:
    return f"{REDEMPTIONS}{redemption_id}"


def rollback_key(redemption: str) -> str:
    """The key under which the points of a redemption, under this key, are taken back."""
    return f"{redemption}:back"


EXCHANGES: Final = "exchange:"  # how the keys of what exchanges move begin


PARTNERS: Final = "api:"  # how the keys of partners' awards begin


def partner_key(partner_id: str, idempotency_key: str) -> str:
    return f"{PARTNERS}{partner_id}:{idempotency_key}"


def person_key(person_id: str, idempotency_key: str) -> str:
    """The key of what a person does over HTTP."""
    return f"person:{person_id}:{idempotency_key}"


EXPIRIES: Final = "expiry:"  # how the keys of what lapses begin
IMPORTS: Final = "import:"  # how the keys of opening balances begin
OF_THEIR_MEMBER: Final = (EXPIRIES, IMPORTS)  # such claims end with the member and the program


def expiry_key(month: str) -> str:
    """The key of an expiry, within the account."""
    return f"{EXPIRIES}{month}"


def expiry_claim(month: str, member_id: str, program: str) -> str:
    """The same over all accounts, as the register of keys needs it."""
    return f"{expiry_key(month)}:{member_id}:{program}"


def opening_key(source: str, member_id: str, program: str) -> str:
    """The key of a balance that a member brought from another system."""
    return f"{IMPORTS}{source}:{member_id}:{program}"


def award_id(key: str) -> UUID:
    """The public id of an award, known before the award is posted because it depends on the key alone: a UUIDv5."""
    # As `uuid.uuid5` makes it, in half the time.
    digest = hashlib.sha1(_NAMESPACE + key.encode(), usedforsecurity=False).digest()
    return UUID(bytes=digest[:16], version=5)


def fingerprint(facts: Sequence[str]) -> str:
    """A short digest of the source facts. Equal keys with unequal fingerprints are a conflict.

    The facts are joined by a control character, which no fact holds: the patterns above refuse it.
    """
    return hashlib.blake2b("\x1f".join(facts).encode(), digest_size=16).hexdigest()
