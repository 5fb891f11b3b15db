"""The rooms that a process opened: routes and pages ask each by its class."""

from typing import Any, TypeVar

Room = TypeVar("Room")


class Rooms:
    """Each room once, by its class. A process opens the rooms that its routes and pages ask."""

    def __init__(self, *opened: object) -> None:
        self._opened: dict[type[Any], Any] = {type(each): each for each in opened}
        if len(self._opened) < len(opened):
            raise ValueError("a room is opened twice")

    def __getitem__(self, kind: type[Room]) -> Room:
        """Raises `KeyError` for a room that is not open here."""
        room: Room = self._opened[kind]
        return room

    def find(self, kind: type[Room]) -> Room | None:
        """A room that not every process opens."""
        room: Room | None = self._opened.get(kind)
        return room
