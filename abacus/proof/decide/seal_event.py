"""The seal as the points stream tells it (CloudEvents 1.0, structured JSON): so a copy of it lies elsewhere. Pure."""

from datetime import datetime
from typing import Final, Literal

import orjson
from pydantic import BaseModel, ConfigDict

from abacus.ledger.types.point_event import SOURCE
from abacus.proof.decide.seal import Seal

TYPE: Final = "abacus.ledger.sealed.v1"
KEY: Final = b"abacus"  # of the message: seals are no member's, and their order matters


class LedgerSealedData(BaseModel):
    """Hashes are hexadecimal. `previous` is the `hash` of the seal before, empty for the first. `log_head` is the hash
    of the last of the `log_entries` that were chained; seals of the first format have neither.
    """

    model_config = ConfigDict(title="LedgerSealedData")

    number: int
    sealed_at: datetime
    accounts: int
    transfers: int
    root: str
    snapshot: str
    previous: str
    hash: str
    log_entries: int | None = None
    log_head: str | None = None


class LedgerSealed(BaseModel):
    """The envelope. `id` is the same each time a seal is published."""

    model_config = ConfigDict(title="LedgerSealed")

    specversion: Literal["1.0"]
    id: str
    source: str
    type: Literal["abacus.ledger.sealed.v1"]
    subject: str
    time: datetime
    datacontenttype: Literal["application/json"]
    data: LedgerSealedData


def encode_sealed(seal: Seal) -> bytes:
    name = f"seal:{seal.number}"
    return orjson.dumps(
        {
            "specversion": "1.0",
            "id": name,
            "source": SOURCE,
            "type": TYPE,
            "subject": name,
            "time": seal.sealed_at,
            "datacontenttype": "application/json",
            "data": described(seal),
        }
    )


def described(seal: Seal) -> dict[str, object]:
    """The seal as JSON holds it."""
    return {
        "number": seal.number,
        "sealed_at": seal.sealed_at.isoformat(),
        "accounts": seal.accounts,
        "transfers": seal.transfers,
        "root": seal.root.hex(),
        "snapshot": seal.snapshot,
        "previous": seal.previous.hex(),
        "hash": seal.hash.hex(),
        "log_entries": seal.log_entries,
        "log_head": None if seal.log_head is None else seal.log_head.hex(),
    }
