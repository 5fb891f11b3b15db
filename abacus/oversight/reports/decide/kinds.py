"""The columns in which the points of each kind of transfer stand, from the table of kinds. Pure."""

from collections.abc import Mapping
from typing import Final

from abacus.ledger.types.kinds import KINDS, Columns, TransferKind

OF_KIND: Final[Mapping[TransferKind, Columns]] = {
    kind: row.columns for kind, row in KINDS.items() if row.columns is not None
}

# The sign with which the points of transfers stand in each column of the rollforward: opening + issued - spent …
SIGNS: Final[Mapping[str, int]] = {columns.moved: columns.sign for columns in OF_KIND.values()}
