"""Rate cards: the worth of a point in a place, since a time."""
