"""The values that the room works with. Pure."""
