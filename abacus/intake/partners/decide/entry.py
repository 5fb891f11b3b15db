"""An entry of the register of partners' awards. Pure."""

from typing import NamedTuple
from uuid import UUID

from abacus.core.ids import award_id
from abacus.intake.earning.decide.source_message import SourceMessage
from abacus.ledger.types.award_envelope import Award


class Entry(NamedTuple):
    """An award as its partner requested it. `to_compute` is set when the member's tier could not be read: until the
    points are computed, they are a member's without a tier.
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
