"""What the page for signing in says to somebody who did not ask for it. Pure."""

from datetime import timedelta
from enum import StrEnum
from typing import Final


class Why(StrEnum):
    """Why a browser was sent there; it stands in the address."""

    OVER = "over"
    UNSENT = "unsent"
    OUT = "out"


_MINUTE: Final = timedelta(minutes=1)


def sentence_of(why: str | None, idle: timedelta) -> str | None:
    """None for somebody who came by itself, and for a reason that is none of ours."""
    minutes = f"{idle // _MINUTE:,} minutes"
    match why:
        case Why.OVER:
            return f"Your session is over: after {minutes} without use, or because it was ended. Sign in to go on."
        case Why.UNSENT:
            return "Your session is over, and what you sent was not done. Sign in, and send it again."
        case Why.OUT:
            return "You are signed out."
        case _:
            return None
