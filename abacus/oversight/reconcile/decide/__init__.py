"""What became of each message, and whether the sums come out. Pure."""
