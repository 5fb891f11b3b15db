"""What a command says on its error stream: how far it is, and what went wrong. Pure."""

import re
import shlex
from collections.abc import Sequence
from typing import Final

from abacus.console.errands.types import State

PROGRESS: Final = "progress: "  # how a line begins that tells how far the command is
_LONGEST: Final = 4000
_OWN_NAME: Final = "abacus: "
_REFUSED: Final = 2


def command_line(arguments: Sequence[str]) -> str:
    """The command as a person would type it."""
    return shlex.join(["abacus", *arguments])


def progress_in(lines: Sequence[str]) -> str | None:
    """The last thing that the command said of how far it is."""
    said = [line.removeprefix(PROGRESS).strip() for line in lines if line.startswith(PROGRESS)]
    return said[-1][:_LONGEST] if said else None


def told_in(text: str) -> str | None:
    """What else it said, for a person to read."""
    lines = [line.removeprefix(_OWN_NAME) for line in re.split(r"[\r\n]+", text) if not line.startswith(PROGRESS)]
    told = "\n".join(line for line in lines if line.strip())
    return told[-_LONGEST:] or None


def state_of(exit_code: int, output: bytes) -> State:
    """A command that printed its document has done what it was to do; its exit code says what it found."""
    return State.DONE if exit_code in range(_REFUSED) and output.strip() else State.FAILED
