"""What a change makes of a segment, and what may be its name. Pure."""
