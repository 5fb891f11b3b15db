"""The steps of a campaign as its document writes them. Pure."""

from collections.abc import Callable, Sequence
from typing import Final

from abacus.core import fields
from abacus.core.fields import Bad, Fields, mapping, quoted, string
from abacus.engage.actions.decide.deeds import Action, DeedKind
from abacus.engage.campaigns.decide.action_reader import action_document, read_action
from abacus.engage.campaigns.decide.campaign import CONTROL, Step
from abacus.engage.campaigns.decide.vocabulary import Words

MAX_STEPS: Final = 20
MAX_ACTIONS: Final = 10  # of a step
_MOST: Final = 1_000_000
_NONE: Final[Sequence[object]] = ()


def read_steps(top: Fields, words: Words, arms: frozenset[str]) -> tuple[Step, ...]:
    """The steps, in the order in which they are written."""
    tables = top.read("steps", _tables(MAX_STEPS), _NONE)
    return tuple(
        _step(number, top.entry_table("steps", number - 1, table), words, arms)
        for number, table in enumerate(tables, start=1)
    )


def step_document(step: Step) -> dict[str, object]:
    """As `read_steps` reads it."""
    document: dict[str, object] = {}
    for name in ("at", "every", "variant"):
        if (value := getattr(step, name)) is not None:
            document[name] = value
    return {**document, "do": [action_document(action) for action in step.actions]}


def _step(number: int, table: Fields, words: Words, arms: frozenset[str]) -> Step:
    at = table.read_if_there("at", fields.whole(1, _MOST), None)
    every = table.read_if_there("every", fields.whole(1, _MOST), None)
    variant = table.read_if_there("variant", string, None)
    if at is not None and every is not None:
        table.note("every", "beside `at`; write one of them")
    if variant is not None and (variant not in arms or variant == CONTROL):
        others = sorted(arms - {CONTROL})
        table.note("variant", f"{quoted(variant)} is no arm in which something is done; {_known(others)}")
    documents = table.read("do", _tables(MAX_ACTIONS), _NONE)
    read = [read_action(table.entry_table("do", place, document), words) for place, document in enumerate(documents)]
    actions: Sequence[Action] = [action for action in read if action is not None]
    if sum(action.deed.kind is DeedKind.AWARD for action in actions) > 1:
        table.note("do", "two awards; a step awards once, under its key")
    table.refuse_unknown()
    return Step(number, tuple(actions), at, every, variant)


def _tables(most: int) -> Callable[[object], Sequence[object]]:
    def read(value: object) -> Sequence[object]:
        if not isinstance(value, list | tuple) or not 1 <= len(value) <= most:
            raise Bad(f"write an array of 1 to {most} tables")
        for each in value:
            mapping(each)
        return value

    return read


def _known(arms: Sequence[str]) -> str:
    return f"there are {', '.join(arms)}" if arms else "the campaign has no split"
