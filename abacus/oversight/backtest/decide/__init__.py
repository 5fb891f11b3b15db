"""The difference between two cards. Pure."""
