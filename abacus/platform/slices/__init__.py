"""The slices of a ledger. Rooms read and change a ledger that may be cut by these verbs, and know nothing else of it.

`at` a member's slice; `split` things over the slices; `each` slice on one connection; `together`, all or none.
"""

from abacus.platform.slices.keys import with_own_keys
from abacus.platform.slices.layout import CUT, MOST, WHOLE, SliceMap
from abacus.platform.slices.parts import (
    PATIENCE_S,
    Split,
    Work,
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
    each,
    in_one_place,
    rows_on,
    slice_map_of,
    slice_map_on,
    slice_of,
    slices_of,
    some_are_away,
    sums,
    together,
    unless_away,
)
from abacus.platform.slices.shared_reads import SharedReads
from abacus.platform.slices.transaction import in_place, locked, take_turn

__all__ = [
    "CUT",
    "MOST",
    "PATIENCE_S",
    "WHOLE",
    "SharedReads",
    "Slice",
    "SliceMap",
    "Split",
    "Work",
    "at",
    "each",
    "everywhere",
    "fetched_by",
    "in_one_place",
    "in_place",
    "in_slices",
    "locked",
    "rows",
    "rows_in_reach",
    "rows_on",
    "side_by_side",
    "slice_map_of",
    "slice_map_on",
    "slice_of",
    "slices_of",
    "some_are_away",
    "split",
    "sums",
    "take_turn",
    "together",
    "unless_away",
    "with_own_keys",
]
