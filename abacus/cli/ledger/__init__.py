"""The commands of the ledger: its schema, its slices, its proof, and where things are in it."""

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "migrate": "commands:migrate",
    "explain": "explain:explain",
    "where": "where:where",
    "reconcile": "reconcile:reconcile",
    "ledger": "commands:app",
    "import": "opening_balances:app",
    "relay": "relay:app",
    "slices": "slices:app",
}
