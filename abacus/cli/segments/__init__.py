"""The commands of segments."""
