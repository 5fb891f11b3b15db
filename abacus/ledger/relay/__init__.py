"""The relay: it reads transfers out of the ledger itself and publishes them on the points stream."""
