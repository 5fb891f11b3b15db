"""Which points the works do not visit, and why not. Pure."""

from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from tests.chaos.crashes.site import Point


class _Reason(NamedTuple):
    """Of the points whose names are like this."""

    points: str
    why: str


_REASONS: Final[tuple[_Reason, ...]] = ()


def why_not(point: Point) -> str | None:
    """Why no work visits it, where somebody has said so."""
    return next((reason.why for reason in _REASONS if fnmatchcase(point.name, reason.points)), None)
