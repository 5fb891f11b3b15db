"""On the first page: what the person looked at of late in this browser."""

from collections.abc import Sequence
from typing import Final

from abacus.console.web.calls import Call
from abacus.console.web.home_card import HomeCard
from abacus.console.web.seen import Seen


async def _seen(call: Call) -> Sequence[Seen] | None:
    return call.seen or None


CARD: Final = HomeCard("seen", "Recently seen", "home/seen.html", _seen, usual=45)
