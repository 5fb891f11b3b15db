"""How long the rows of a table stay."""

from datetime import timedelta
from typing import Final, NamedTuple

PAGE: Final = 10_000


class Life(NamedTuple):
    """Rows of a table that is cut go once `over` holds, as it then does for ever; `:before` lies `kept` ago. A page
    of rows is judged together, a smaller one where that takes long.
    """

    table: str
    over: str
    kept: timedelta
    page: int = PAGE
