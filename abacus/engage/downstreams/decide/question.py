"""The question to a service about many events at once, and its answer. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import orjson

from abacus.signals.events.decide.message import encode_event
from abacus.signals.events.decide.values import READERS, Wrong
from abacus.signals.events.types import Event, Value, VariableType
from abacus.signals.facts.decide.catalog import NamedSides
from abacus.signals.rules.decide.types import Origin

ASK_TYPE: Final = "abacus.ask"
LONGEST_ANSWER: Final = 1 << 20  # bytes


class NoAnswer(Exception):
    """The service gave none, or none that can be read; as text: why."""


def question(name: str, events: Sequence[Event], now: datetime) -> bytes:
    """`asks` has the events as Abacus publishes them; the answer has one value for each, in their order."""
    asks = [orjson.Fragment(encode_event(event)) for event in events]
    return orjson.dumps({"type": ASK_TYPE, "timestamp": now, "service": name, "asks": asks})


def read_answer(body: bytes, type_: VariableType, events: int) -> list[Value | None]:
    """`{"answers": [true, null, …]}`: null means that the value is missing. Raises `NoAnswer`."""
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise NoAnswer(f"its answer is no JSON: {error}") from None
    answers = answer.get("answers") if isinstance(answer, dict) else None
    if not isinstance(answers, list) or len(answers) != events:
        has = f"{len(answers)}" if isinstance(answers, list) else "no"
        raise NoAnswer(f"its answer has {has} answers, and {events} were asked for")
    try:
        return [None if each is None else READERS[type_](each) for each in answers]
    except Wrong as wrong:
        raise NoAnswer(f"an answer is {wrong}") from None


EXTERNAL: Final = Origin("external", cost=50)


def service_sides(answers: Mapping[str, VariableType]) -> NamedSides:
    """The services by name, with the types of their answers."""
    return NamedSides(EXTERNAL, answers, answers.__getitem__, "external service", "abacus downstreams list")
