"""JSON pointers, made ready for many messages. Pure."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from abacus.signals.events.decide.places import Pointer

Message = Mapping[str, Any]
Get = Callable[[Message], Any]
Read = Callable[[object], Any]

_LONGEST_INDEX: Final = 6  # digits


def getter(pointer: Pointer) -> Get:
    """Gets the value at the end of the way, or None. Most ways have one step or two."""
    steps = pointer.steps
    if len(steps) == 1:
        return _one_step(steps[0])
    if len(steps) == 2:  # noqa: PLR2004  # it says so
        return _two_steps(*steps)

    def many_steps(message: Message) -> Any:
        value: Any = message
        for step in steps:
            value = _step(value, step)
        return value

    return many_steps


def taker(pointer: Pointer, read: Read) -> Get:
    """Gets the value and reads it, and reads None where there is none."""
    if len(pointer.steps) == 1:
        name = pointer.steps[0]
        return lambda message: read(message.get(name))
    get = getter(pointer)
    return lambda message: read(get(message))


def taker_if_there(pointer: Pointer, read: Read) -> Get:
    """Gets the value and reads it; None where there is none."""
    get = getter(pointer)

    def take(message: Message) -> Any:
        value = get(message)
        return None if value is None else read(value)

    return take


def _one_step(name: str) -> Get:
    return lambda message: message.get(name)


def _two_steps(first: str, second: str) -> Get:
    def two_steps(message: Message) -> Any:
        inner = message.get(first)
        return inner.get(second) if type(inner) is dict else _step(inner, second)

    return two_steps


def _step(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and step.isascii() and step.isdigit() and len(step) <= _LONGEST_INDEX:
        index = int(step)
        return value[index] if index < len(value) and str(index) == step else None
    return None
