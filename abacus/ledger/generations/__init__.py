"""The generations of a ledger. The next one is opened when the last is full. A generation that was left is closed."""
