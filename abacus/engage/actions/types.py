"""An action as it is planned, and as it is taken when its time has come. Pure values."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

AWARDS: Final = "awards"  # the receivers that are there from the start
MESSAGES: Final = "messages"
EVENTS: Final = "events"
INVITATIONS: Final = "invitations"
REDEMPTIONS: Final = "redemptions"


class PlannedAction(NamedTuple):
    """An action that is to be done: the `number`th of a step of its owner, whose effect has this key. `receiver` is the
    downstream that gets it; `kind` is a `DeedKind`, or a kind of the owner's own. `document` is JSON; `event` is the
    event as it is published, where a guard is looked at when the action is due.
    """

    member_id: str
    key: str
    number: int
    owner_kind: str
    owner: str
    version: int
    step: int
    variant: str | None
    kind: str
    receiver: str
    due_at: datetime
    document: bytes
    event: bytes | None


class DueAction(NamedTuple):
    """An action whose time has come. `event` is there where a guard has to be looked at."""

    member_id: str
    key: str
    number: int
    owner_kind: str
    owner: str
    version: int
    step: int
    decided_at: datetime
    document: bytes
    event: bytes | None


class Refusals(NamedTuple):
    """The actions that something is against, with the reason, and the actions about which that cannot be told now: they
    are looked at again.
    """

    against: Mapping[DueAction, str]
    unknown: Collection[DueAction]


NONE_REFUSED: Final = Refusals({}, ())

# Why the owner of an action does nothing more, not even what was decided; None where it does. Raises `Unavailable`.
WhyStopped: TypeAlias = Callable[[DueAction], str | None]
NONE_STOPPED: Final[Mapping[str, WhyStopped]] = {}

# Looks at the guards of actions. Raises `Unavailable`.
Guards: TypeAlias = Callable[[Sequence[DueAction]], Awaitable[Refusals]]
