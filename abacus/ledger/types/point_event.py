"""The point event: a transfer as the points stream tells it (CloudEvents 1.0, structured JSON). Pure."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Final, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from abacus.ledger.types.kinds import KINDS, TransferKind
from abacus.ledger.types.transfer import Transfer
from abacus.pricing.explanation.types import Document

SOURCE: Final = "abacus/ledger"
TYPES: Final[Mapping[str, str]] = {kind: KINDS[kind].event for kind in TransferKind}


class PointEventData(BaseModel):
    """What happened to the account."""

    model_config = ConfigDict(title="PointEventData")

    member_id: str
    program: str
    seq: int
    key: str
    kind: TransferKind
    points: int
    balance: int
    country: str
    occurred_at: datetime
    expires_on: date | None
    lifetime: bool | None  # whether the account lapses by lots: then `expires_on` of a credit is its own day alone
    vests_on: date | None  # the first day on which the points can be spent; null where that is at once
    source: str | None  # where the points came from: stream, partner:acme, person:ann, import, clock
    explanation: Document


class PointEvent(BaseModel):
    """The envelope. `id` is the same each time a transfer is published; consumers de-duplicate by it."""

    model_config = ConfigDict(title="PointEvent")

    specversion: Literal["1.0"]
    id: str
    source: str
    type: Annotated[str, Field(json_schema_extra={"enum": list(TYPES.values())})]
    subject: str
    time: datetime
    datacontenttype: Literal["application/json"]
    data: PointEventData


def encode_event(transfer: Transfer) -> bytes:
    """The event's JSON; the explanation's text goes in as it is stored."""
    return orjson.dumps(
        {
            "specversion": "1.0",
            "id": f"{transfer.member_id}:{transfer.program}:{transfer.seq}",
            "source": SOURCE,
            "type": TYPES[transfer.kind],
            "subject": transfer.member_id,
            "time": transfer.posted_at,
            "datacontenttype": "application/json",
            "data": {
                "member_id": transfer.member_id,
                "program": transfer.program,
                "seq": transfer.seq,
                "key": transfer.key,
                "kind": transfer.kind,
                "points": transfer.points,
                "balance": transfer.balance_after,
                "country": transfer.country,
                "occurred_at": transfer.occurred_at,
                "expires_on": transfer.expires_on,
                "lifetime": transfer.lifetime,
                "vests_on": transfer.vests_on,
                "source": transfer.known_source,
                "explanation": orjson.Fragment(transfer.explanation),
            },
        }
    )
