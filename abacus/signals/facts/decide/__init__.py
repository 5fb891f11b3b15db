"""The left sides that are looked up: what there is, and of which type. Pure."""
