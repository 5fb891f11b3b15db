"""Rate cards: what a point is worth, where, since when."""
