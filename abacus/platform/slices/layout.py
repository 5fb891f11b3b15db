"""The slices of a ledger: whole parts of it, each in a schema of its own. A hash gives each member to one, for ever.

A ledger that is not cut has its tables in `public`. docs/adr/0061 has the reasons.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from math import ceil
from typing import Final, NamedTuple, TypeVar

# Tables whose rows belong to a slice. In `public`, a view of the same name has the rows of all slices.
CUT: Final = (
    *("account", "transfer", "claim", "draw", "hold", "sealed_leaf"),
    *("account_tier", "tier_tally", "tier_change", "membership"),
    *("notice", "notification", "notification_preference", "message_count", "untold_message"),
    *("campaign_claim", "campaign_progress", "action"),
    *("offer_reservation", "offer_redemption", "offer_taker"),
    *("offer_invitation", "offer_gift"),
    *("seat", "journey_refusal", "journey_deed_aside", "journey_entry_aside"),
    "member_region",
    *("allowance_member", "rejection", "webhook_delivery"),
)

# Of these, the tables that refuse rows of another slice's members. The rows of the others follow from theirs.
GUARDED: Final = (
    *("account", "account_tier", "membership", "notice", "notification_preference", "campaign_claim", "rejection"),
    "offer_reservation",
    "offer_invitation",
    *("seat", "journey_refusal", "journey_deed_aside", "journey_entry_aside"),
    "member_region",
)

WHOLE: Final = "public"  # the schema with the tables, or with the views of all slices
MOST: Final = 64

# Tables that each slice has for itself, though they are not about members one by one.
OF_A_SLICE: Final = (
    *("relay_cursor", "tier_calendar", "tier_roll", "limit_slot", "campaign_sum", "allowance_part"),
    *("counter_row", "counter_partition", "offer_sum", "pack", "journey_deed", "journey_trail"),
    *("journey_sum", "pack_aside"),
    *("generation", "key_filter"),
)

# Of these, tables with which a slice begins as it is: they have a row.
BEGUN: Final = ("generation",)

# The table of a slice with one row, which each writing transaction locks: so their places are in the order of commits.
HEAD: Final = "head"

_LOOKED_INTO_AT_ONCE: Final = 4  # slices, at no longer pauses than one has
_LONGEST_PAUSE_S: Final = 1.0

Thing = TypeVar("Thing")


class SliceMap(NamedTuple):
    """The slice of each member, and how many slices there are."""

    slices: int

    @property
    def schemas(self) -> Sequence[str]:
        """The schemas with the tables of the ledger."""
        return [self.schema_of(number) or WHOLE for number in range(self.slices)]

    def pause_s(self, of_one: float) -> float:
        """The pause after nothing was found to do in any slice: longer where there are many to look into."""
        return min(max(of_one, _LONGEST_PAUSE_S), of_one * ceil(self.slices / _LOOKED_INTO_AT_ONCE))

    def slice_of(self, key: str) -> int:
        """Of a member, or of the key of a counter. As the database's function `abacus_slice_of`, which guards the
        accounts of each slice.
        """
        if self.slices == 1:
            return 0
        return int.from_bytes(sha256(key.encode()).digest()[:4], "big") % self.slices

    def schema_of(self, number: int) -> str | None:
        """The schema of a slice's tables, to which sessions are led; None for a whole ledger."""
        return f"slice_{number}" if self.slices > 1 else None

    def by_slice(self, things: Iterable[Thing], key_of: Callable[[Thing], str]) -> dict[int, list[Thing]]:
        """The things of each slice, in their order."""
        parts: dict[int, list[Thing]] = {}
        for thing in things:
            parts.setdefault(self.slice_of(key_of(thing)), []).append(thing)
        return parts
