"""How far a command is: bars on a terminal, lines for the console when it runs the command, and else nothing."""

import os
import time
from typing import Any, Final

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

from abacus.cli.terminal.answer import errors
from abacus.console.errands.command import ERRAND_TOKEN
from abacus.console.errands.decide.command_output import PROGRESS

_TELL_EVERY_S: Final = 0.5


def shown_progress(*columns: str | ProgressColumn) -> Progress:
    if ERRAND_TOKEN.fits(os.environ.get("ABACUS_TOKEN", "")):
        return _Lines(disable=True)
    return Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)


def bars() -> Progress:
    """Bars with how many of how many."""
    return shown_progress(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())


def percents() -> Progress:
    return shown_progress(TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())


def spinner(text: str = "{task.description}") -> Progress:
    return shown_progress(SpinnerColumn(), TextColumn(text), TimeElapsedColumn())


class _Lines(Progress):
    """Says in a line what a bar would show."""

    _told_at = 0.0

    def add_task(self, description: str, *arguments: Any, **options: Any) -> TaskID:
        task_id = super().add_task(description, *arguments, **options)
        self._tell(task_id)
        return task_id

    def update(self, task_id: TaskID, *arguments: Any, **options: Any) -> None:
        super().update(task_id, *arguments, **options)
        self._tell(task_id)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        super().advance(task_id, advance)
        self._tell(task_id)

    def _tell(self, task_id: TaskID) -> None:
        now = time.monotonic()
        if now - self._told_at < _TELL_EVERY_S:
            return
        self._told_at = now
        task = self._tasks[task_id]
        of = f" of {task.total:,.0f}" if task.total else ""
        counted = f"{task.completed:,.0f}{of}" if task.completed or of else ""
        errors.print(f"{PROGRESS}{' '.join(filter(None, (task.description, counted)))}")
