"""A computer whose clock is wrong."""

from datetime import UTC, datetime, timedelta
from typing import Final

_NEAR: Final = timedelta(seconds=30)


class Wrong:
    """The clock of a computer that is behind by so much."""

    def __init__(self, behind: timedelta) -> None:
        self._behind = behind

    def now(self) -> datetime:
        return datetime.now(UTC) - self._behind


def is_right(moment: datetime) -> bool:
    return abs(moment - datetime.now(UTC)) < _NEAR
