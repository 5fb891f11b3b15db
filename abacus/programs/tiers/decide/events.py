"""The tier event: a change of tier as the tiers stream tells it (CloudEvents 1.0, structured JSON). Pure."""

from datetime import date, datetime
from typing import Final, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from abacus.programs.tiers.decide.tier_change import Change, Reason

SOURCE: Final = "abacus/tiers"
TYPE: Final = "abacus.tier.changed.v1"


class TierPeriod(BaseModel):
    """Both days are part of it."""

    model_config = ConfigDict(title="TierPeriod")

    starts_on: date
    ends_on: date


class TierChangedData(BaseModel):
    """The tiers before and after, and the reason. The points `earned` in `period` decided the tier; an operator's word
    needs none. The tier lasts through `until`; without a date it lasts until further notice.
    """

    model_config = ConfigDict(title="TierChangedData", populate_by_name=True)

    member_id: str
    program: str
    country: str | None
    from_tier: str = Field(alias="from")
    to_tier: str = Field(alias="to")
    reason: Reason
    earned: int | None
    period: TierPeriod | None
    until: date | None
    at: datetime


class TierChanged(BaseModel):
    """The envelope. `id` is the same each time a change is published; its last part counts the account's changes."""

    model_config = ConfigDict(title="TierChanged")

    specversion: Literal["1.0"]
    id: str
    source: str
    type: Literal["abacus.tier.changed.v1"]
    subject: str
    time: datetime
    datacontenttype: Literal["application/json"]
    data: TierChangedData


def encode_tier_changed(change: Change) -> bytes:
    period = None
    if change.starts_on is not None:
        period = {"starts_on": change.starts_on, "ends_on": change.ends_on}
    return orjson.dumps(
        {
            "specversion": "1.0",
            "id": f"{change.member_id}:{change.program}:tier:{change.n}",
            "source": SOURCE,
            "type": TYPE,
            "subject": change.member_id,
            "time": change.changed_at,
            "datacontenttype": "application/json",
            "data": {
                "member_id": change.member_id,
                "program": change.program,
                "country": change.country,
                "from": change.from_tier,
                "to": change.to_tier,
                "reason": change.reason,
                "earned": change.earned,
                "period": period,
                "until": change.until,
                "at": change.changed_at,
            },
        }
    )
