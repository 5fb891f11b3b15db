"""The commands that start the house, or say how it does."""
