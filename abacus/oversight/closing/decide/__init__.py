"""The decisions of a close: what stands in its way, and the journal. Pure."""
