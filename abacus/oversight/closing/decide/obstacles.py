"""What stands in the way of closing a month, and which of it a person may accept. Pure."""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

# Obstacles that a person may accept by name, because a late answer to them is posted in a later month and so stands in
# that month's books. Books that do not tie, or a ledger that does not verify, are never accepted.
ACCEPTABLE: Final = ("expiry", "quarantine", "reconcile")


class Obstacle(NamedTuple):
    """One reason not to close, by its name, and its remedy in words."""

    name: str
    said: str

    def __str__(self) -> str:
        return f"{self.name}: {self.said}"


def left(obstacles: Iterable[Obstacle], accepted: Collection[str]) -> list[Obstacle]:
    """The obstacles that were not accepted, or cannot be."""
    return [each for each in obstacles if each.name not in ACCEPTABLE or each.name not in accepted]
