"""Where a list of a member's redemptions goes on, as text: the redemption at which the page ended. Pure."""

import base64
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import orjson

from abacus.engage.rewards.decide.redemption import Redemption


class Place(NamedTuple):
    """A place in the order of redemptions, the newest first."""

    asked_at: datetime
    redemption_id: UUID

    @classmethod
    def of(cls, redemption: Redemption) -> "Place":
        return cls(redemption.asked_at, redemption.redemption_id)

    @classmethod
    def read(cls, text: str) -> "Place":
        """Raises `ValueError` for a text that is none of ours."""
        match orjson.loads(base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))):
            case [str(asked_at), str(redemption_id)]:
                place = cls(datetime.fromisoformat(asked_at), UUID(redemption_id))
            case _:
                raise ValueError(text)
        if place.asked_at.tzinfo is None:
            raise ValueError(text)
        return place

    @property
    def text(self) -> str:
        content = orjson.dumps([self.asked_at.isoformat(), str(self.redemption_id)])
        return base64.urlsafe_b64encode(content).decode().rstrip("=")
