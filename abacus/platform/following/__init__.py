"""Following: work that one process at a time leads, rows of a table published or walked in order, and topics read."""
