"""The names of things that left sides speak of: regions, counters, segments. Pure."""

import difflib
from collections.abc import Collection, Iterator
from typing import Final

from abacus.core.fields import Bad, quoted

_MOST_COMPARED: Final = 2_000  # to guess among more takes longer than to look


def check_named(name: str, known: Collection[str], what: str, listed_by: str) -> None:
    """Raises `Bad` for a name that is not known."""
    if name not in known:
        near = difflib.get_close_matches(name, list(known), n=1) if len(known) <= _MOST_COMPARED else []
        hint = f"did you mean {near[0]}?" if near else f"`{listed_by}` prints what there is"
        raise Bad(f"no {what} {quoted(name)} is defined; {hint}")


class AnyName(Collection[str]):
    """All names: for rules that were judged before."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


ANY_NAME: Final = AnyName()
