"""How long the rows of a table stay."""

from datetime import timedelta
from typing import NamedTuple


class Life(NamedTuple):
    """Rows of a table that is cut go once `over` holds, as it then does for ever; `:before` lies `kept` ago."""

    table: str
    over: str
    kept: timedelta
