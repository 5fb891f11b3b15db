"""The columns in which the points of each kind of transfer stand in the reports. Pure."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from abacus.ledger.types.award import Kind


class Columns(NamedTuple):
    """The columns of one kind: `moved` in the rollforward; in the cohorts `came` for points that come and `went` for
    points that go; in the activity of a month `came_as` and `went_as`.

    A kind that only takes points has no `came`, a kind that only brings points has no `went`.
    """

    moved: str
    came: str | None
    came_as: str
    went: str | None
    went_as: str


OF_KIND: Final[Mapping[Kind, Columns]] = {
    Kind.EARN: Columns("issued", "earned", "issued", None, "issued"),
    Kind.SPEND: Columns("spent", None, "used", "spent", "used"),
    Kind.EXPIRE: Columns("expired", None, "expired", "expired", "expired"),
    Kind.REVERSE: Columns("reversed", "returned", "used", "reversed", "issued"),
    Kind.ADJUST: Columns("adjusted", "added", "added", "adjusted", "added"),
}

# The sign with which the points of transfers stand in each column of the rollforward: opening + issued - spent …
SIGNS: Final[Mapping[str, int]] = {"issued": 1, "spent": -1, "expired": -1, "reversed": -1, "adjusted": 1}

# Kinds that move no points, and so stand in no report.
MOVES_NOTHING: Final = frozenset({Kind.HOLD, Kind.RELEASE})
