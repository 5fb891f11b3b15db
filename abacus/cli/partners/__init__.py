"""The commands of partners and their webhooks."""

from typing import Final

COMMANDS: Final = {
    "partners": "commands:app",
    "partners webhook": "webhooks:app",
}
