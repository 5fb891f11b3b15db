"""What Abacus stands on: whether the servers around it are set up as a ledger needs them, and what to do where not."""
