"""The rooms that a process opened: routes and pages ask each by its class."""

from typing import Any, TypeVar

Room = TypeVar("Room")


class Rooms:
    """Each room once, by its class, or else by a class that it extends. A process opens the rooms that its routes and
    pages ask.
    """

    def __init__(self, *opened: object) -> None:
        if len({type(each) for each in opened}) < len(opened):
            raise ValueError("a room is opened twice")
        self._opened = opened
        self._found: dict[type[Any], Any] = {}

    def __getitem__(self, kind: type[Room]) -> Room:
        """Raises `KeyError` for a room that is not open here."""
        room = self.find(kind)
        if room is None:
            raise KeyError(kind)
        return room

    def find(self, kind: type[Room]) -> Room | None:
        """A room that not every process opens."""
        if kind not in self._found:
            exact = (each for each in self._opened if type(each) is kind)
            self._found[kind] = next(exact, next((each for each in self._opened if isinstance(each, kind)), None))
        room: Room | None = self._found[kind]
        return room
