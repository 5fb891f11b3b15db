"""The commands of reports and of a month's close."""

from typing import Final

COMMANDS: Final = {
    "report": "report:app",
    "report revenue": "revenue:revenue",
    "report allocate": "revenue:allocate",
    "report assumptions": "revenue:app",
    "report close": "close:close",
}
