"""The verdict on each message, and whether the sums come out. Pure."""
