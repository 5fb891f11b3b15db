"""The commands of the ledger: its schema, its slices, its proof, and where things are in it."""
