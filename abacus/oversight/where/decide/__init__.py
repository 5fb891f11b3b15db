"""Which message speaks of the award or transaction."""
