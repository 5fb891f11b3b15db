"""The slices of a ledger. Rooms read and change a ledger that may be cut by these verbs, and know nothing else of it.

`at` a member's slice; `split` things over the slices; `each` slice on one connection; `together`, all or none.
"""

from abacus.platform.slices.keys import with_own_keys
from abacus.platform.slices.layout import CUT, MOST, UNCUT, WHOLE, Slicing
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
from abacus.platform.slices.placement import Move, Spreading, having_rows, spreading
from abacus.platform.slices.prepared import keep_looking
from abacus.platform.slices.reach import (
    Slice,
    at,
    beside,
    each,
    in_one_place,
    rows_on,
    slice_at,
    slice_of,
    slices_of,
    slicing_of,
    slicing_on,
    some_are_away,
    sums,
    together,
    unless_away,
)
from abacus.platform.slices.transaction import in_place, locked, take_turn

__all__ = [
    "CUT",
    "MOST",
    "PATIENCE_S",
    "UNCUT",
    "WHOLE",
    "Move",
    "Slice",
    "Slicing",
    "Split",
    "Spreading",
    "at",
    "beside",
    "each",
    "everywhere",
    "fetched_by",
    "having_rows",
    "in_one_place",
    "in_place",
    "in_slices",
    "keep_looking",
    "locked",
    "rows",
    "rows_in_reach",
    "rows_on",
    "side_by_side",
    "slice_at",
    "slice_of",
    "slices_of",
    "slicing_of",
    "slicing_on",
    "some_are_away",
    "split",
    "spreading",
    "sums",
    "take_turn",
    "together",
    "unless_away",
    "with_own_keys",
]
