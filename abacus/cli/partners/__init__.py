"""The commands of partners and their webhooks."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "partners": "commands:app",
    "partners webhook": "webhooks:app",
}
