"""The journey of a run, and what its members do on their way. Pure.

A third buys while it waits for that, a third leaves amid the wait, and a third does nothing and is timed out.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.types import Event
from tests.reliability.chaos.campaigned import COUNTRY, HOUSE, SINCE, UNTIL

NAME: Final = "visits"
WAITS: Final = timedelta(seconds=20)
POINTS: Final = 4
_MESSAGES_FOR_EACH: Final = 100
BEGUN: Final = "visit.begun"
_SOURCE: Final = str(HOUSE["source"])


class Turn(StrEnum):
    """What a member does. The value is the type of the event of it."""

    BUYS = "visit.bought"
    GOES = "visit.gone"
    STAYS = ""


WHY: Final[Mapping[Turn, str]] = {Turn.BUYS: "again", Turn.GOES: "gone", Turn.STAYS: "once"}
# The nodes at which something is done for whoever leaves for a reason.
DONE: Final[Mapping[str, frozenset[str]]] = {
    "again": frozenset({"hello", "gift", "thank"}),
    "gone": frozenset({"hello", "gift"}),
    "once": frozenset({"hello", "gift", "remind"}),
}


def visitors_of(messages: int) -> int:
    """How many members set out beside so many messages."""
    return max(len(Turn), messages // _MESSAGES_FOR_EACH)


def member(number: int) -> str:
    """A member who is in no transaction."""
    return f"v{number:05}"


def turn_of(member_id: str) -> Turn:
    return list(Turn)[int(member_id[1:]) % len(Turn)]


def body(member_id: str, type_: str, at: datetime) -> bytes:
    """The message of an event. A member has one of each type."""
    event = Event(_SOURCE, type_, f"{member_id}-{type_}", member_id, COUNTRY, at, {"shop": "one"})
    return encode_event(event)


def document() -> dict[str, Any]:
    """A message, a second, points, and a wait for an event, which ends by that, by its time, or with the visit."""
    return {
        "name": NAME,
        "country": COUNTRY,
        "timezone": "Asia/Singapore",
        "starts_at": SINCE.isoformat(),
        "ends_at": UNTIL.isoformat(),
        "entry": {"on": [f"{_SOURCE}/{BEGUN}"]},
        "exits": [{"name": WHY[Turn.GOES], "on": [f"{_SOURCE}/{Turn.GOES}"]}],
        "begin": "hello",
        "nodes": {
            "hello": {"do": {"tell": {"en": "Hello\nHere you are."}}, "next": "pause"},
            "pause": {"wait": {"for": "1s"}, "next": "gift"},
            "gift": {"do": {"award": {"points": POINTS}}, "next": "second"},
            "second": {
                "wait": {"for": f"{WAITS.seconds}s", "event": {"on": [f"{_SOURCE}/{Turn.BUYS}"]}},
                "next": "thank",
                "otherwise": "remind",
            },
            "thank": {"do": {"tell": {"en": "Thank you\nThat was quick."}}, "next": "again"},
            "again": {"exit": "again"},
            "remind": {"do": {"tell": {"en": "Still there?\nCome back."}}, "next": "once"},
            "once": {"exit": "once"},
        },
    }
