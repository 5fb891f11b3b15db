"""The commands of the ledger: its schema, its slices, its proof, and where things are in it."""

from typing import Final

COMMANDS: Final = {
    "migrate": "commands:migrate",
    "explain": "explain:explain",
    "where": "where:where",
    "reconcile": "reconcile:reconcile",
    "ledger": "commands:app",
    "import": "opening_balances:app",
    "relay": "relay:app",
    "slices": "slices:app",
}
