"""Messages that wait in the proxy before they are handed out, or handed out again. Pure: time is a parameter."""

from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]


@dataclass
class Waiting:
    """A message, why it waits, until when at the latest, and how many others have to be handed out before it."""

    message: Message
    fault: str
    until: float
    behind: int
    passed_by: int = 0

    def is_due(self, now: float) -> bool:
        return now >= self.until or self.passed_by >= self.behind > 0


class Shelf:
    """The messages of one queue that wait."""

    def __init__(self) -> None:
        self._waiting: list[Waiting] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, message: Message, fault: str, until: float, *, behind: int = 0) -> None:
        """Let the message wait until then, or until so many others were handed out, if a number is given."""
        self._waiting.append(Waiting(message, fault, until, behind))

    def take(self, now: float, most: int) -> list[Waiting]:
        """Up to so many messages whose time has come."""
        taken = [each for each in self._waiting if each.is_due(now)][:most]
        self._waiting = [each for each in self._waiting if each not in taken]
        return taken

    def passed(self, messages: int) -> None:
        """Note that so many others were handed out."""
        for each in self._waiting:
            each.passed_by += messages

    def next_due_in(self, now: float) -> float | None:
        """In how many seconds the next one's time comes; None when nothing waits."""
        return min((max(0.0, each.until - now) for each in self._waiting), default=None)
