"""Rate cards, the card in force, and the points of a transaction under it. Pure."""
