"""The points that a transfer with a day of vesting adds to the pending points of its account, as SQL."""

from abacus.ledger.types.kinds import TransferKind
from abacus.pricing.explanation.sql import number


def pending(row: str) -> str:
    """Of an award its points, and of a reversal less than nothing: it takes back points that had not vested."""
    return f"case {row}.kind when '{TransferKind.REVERSE}' then -{number('due', row)} else {row}.points end"
