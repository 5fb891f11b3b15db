"""Whether a seal covers all transfers of a time. Pure."""

from collections.abc import Sequence


def covers(snapshot: str, last: Sequence[int | None]) -> bool:
    """Whether a seal of this snapshot has the last transfer of each slice, told by its stamp; None where there is none.

    A snapshot has a text for each slice, and the seal has all transfers with a stamp below the first number of it.
    """
    seen = [int(each.partition(":")[0]) for each in snapshot.split()]
    return len(seen) == len(last) and all(
        stamp is None or stamp < below for stamp, below in zip(last, seen, strict=True)
    )
