"""What is asked of a journey for one member, by callers and by deeds of other journeys: to start a visit, or to end all
that go on. It waits as an action whose receiver is the journey, so it is done once under its key. Pure.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple, TypeAlias

import orjson

from abacus.engage.actions.types import DueAction, PlannedAction
from abacus.engage.journeys.decide.journey import OWNER_KIND

CALLER: Final = "caller"  # the kind of owners outside: partners and people
_RECEIVER: Final = f"{OWNER_KIND}:"


class OrderKind(StrEnum):
    """The kinds of orders."""

    START = "start"
    END = "end"


class StartOrder(NamedTuple):
    """A member is to enter. The context is as it was given: whether it has the journey's fields is found then."""

    context: Mapping[str, Any]


class EndOrder(NamedTuple):
    """The visits of a member are to end that go on when this is asked. `why` is the reason of their end."""

    why: str


Order: TypeAlias = StartOrder | EndOrder


class Asking(NamedTuple):
    """The journey that is asked, the member, and the key. A caller asks by its source; a journey asks by its name, with
    its version, the node and the arm.
    """

    journey: str
    member_id: str
    key: str
    owner_kind: str
    owner: str
    version: int = 0
    step: int = 0
    arm: str | None = None


def receiver_of(journey: str) -> str:
    """The receiver of the actions that are orders to this journey."""
    return f"{_RECEIVER}{journey}"


def journey_of(receiver: str) -> str:
    return receiver.removeprefix(_RECEIVER)


def start_order(asking: Asking, context: Mapping[str, Any], now: datetime) -> PlannedAction:
    """The context is JSON."""
    document = orjson.dumps({OrderKind.START.value: context}, option=orjson.OPT_SORT_KEYS)
    return _planned(OrderKind.START, asking, document, now)


def end_order(asking: Asking, now: datetime) -> PlannedAction:
    document = orjson.dumps({OrderKind.END.value: f"ended by {asking.owner_kind} {asking.owner}"})
    return _planned(OrderKind.END, asking, document, now)


def order_of(action: DueAction) -> Order:
    """What an action asks for."""
    document = orjson.loads(action.document)
    if OrderKind.START in document:
        return StartOrder(document[OrderKind.START])
    return EndOrder(document[OrderKind.END])


def _planned(kind: OrderKind, asking: Asking, document: bytes, now: datetime) -> PlannedAction:
    return PlannedAction(
        member_id=asking.member_id,
        key=asking.key,
        number=0,
        owner_kind=asking.owner_kind,
        owner=asking.owner,
        version=asking.version,
        step=asking.step,
        variant=asking.arm,
        kind=kind,
        receiver=receiver_of(asking.journey),
        due_at=now,
        document=document,
        event=None,
    )
