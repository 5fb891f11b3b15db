"""Which processes run, and the state of their workers: each writes it into a table every few seconds."""
