"""Decisions of a walk, with the values that they were made by."""

from collections.abc import Iterator, Sequence

from abacus.cli.terminal.answer import Shown, Table
from abacus.engage.journeys.decide.visit import Seen


def conditions(title: str, seen: Sequence[Seen]) -> Iterator[Shown]:
    """What was looked at; nothing where nothing was."""
    if seen:
        rows = [[each.condition, each.value, "holds" if each.holds else "no"] for each in seen]
        yield Table(title, ["condition", "value", "outcome"], rows)
