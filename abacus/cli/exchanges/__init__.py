"""The commands of exchanges with partners."""

from typing import Final

COMMANDS: Final = {
    "exchanges": "commands:app",
    "exchanges books": "books:app",
    "exchanges breaks": "breaks:app",
    "exchanges files": "files:app",
    "exchanges conform": "conform:conform",
    "exchanges check-report": "conform:check_report",
    "exchanges partner-sim": "partner_sim:partner_sim",
}
