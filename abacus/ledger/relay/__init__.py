"""The relay: what is posted is published on the points stream, read out of the ledger itself."""
