"""The slices of a ledger. Rooms read and change a ledger that may be cut by these verbs, and know nothing else of it.

`at` a member's slice; `split` things over the slices; `each` slice on one connection; `together`, all or none.
"""

from abacus.platform.slices.keys import with_own_keys
from abacus.platform.slices.layout import MOST, UNCUT, Slicing
from abacus.platform.slices.parts import (
    PATIENCE_S,
    Split,
    everywhere,
    fetched_by,
    in_slices,
    rows,
    rows_in_reach,
    side_by_side,
    split,
)
from abacus.platform.slices.reach import (
    Slice,
    at,
    beside,
    each,
    slice_at,
    slice_of,
    slices_of,
    slicing_of,
    slicing_on,
    some_are_away,
    together,
    unless_away,
)
from abacus.platform.slices.transaction import in_place, locked, take_turn

__all__ = [
    "MOST",
    "PATIENCE_S",
    "UNCUT",
    "Slice",
    "Slicing",
    "Split",
    "at",
    "beside",
    "each",
    "everywhere",
    "fetched_by",
    "in_place",
    "in_slices",
    "locked",
    "rows",
    "rows_in_reach",
    "side_by_side",
    "slice_at",
    "slice_of",
    "slices_of",
    "slicing_of",
    "slicing_on",
    "some_are_away",
    "split",
    "take_turn",
    "together",
    "unless_away",
    "with_own_keys",
]
