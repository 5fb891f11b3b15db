"""An entry of the register of what partners asked for. Pure."""

from typing import NamedTuple
from uuid import UUID

from abacus.core.ids import award_id
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.ledger.types.award import Award


class Entry(NamedTuple):
    """An award as its partner asked for it. `to_compute` is there when the member's tier could not be read: then the
    points are those of a member without one, until they are computed.
    """

    award_id: UUID
    partner_id: str
    award: Award
    to_compute: SourceMessage | None = None

    @property
    def provisional(self) -> bool:
        """Whether the points are computed anew before they are posted."""
        return self.to_compute is not None

    @classmethod
    def of(cls, partner_id: str, award: Award, to_compute: SourceMessage | None = None) -> "Entry":
        return cls(award_id(award.key), partner_id, award, to_compute)
