"""Whether a person may ask for one more errand. Pure."""

from abacus.console.errands.types import Room, TooMany


def check_room(room: Room, open_: int, in_an_hour: int) -> None:
    """Raises `TooMany` for a person with this many open errands, and this many in the last hour."""
    if open_ >= room.open:
        raise TooMany(f"{open_} errands of yours wait or run; wait until one has ended, or cancel one")
    if in_an_hour >= room.in_an_hour:
        raise TooMany(f"You asked for {in_an_hour} errands in the last hour, which is as many as one may; wait a while")
