"""The generations of a ledger: when the next one is opened, and what is done with one that takes no rows any more."""
