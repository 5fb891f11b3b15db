"""What the sums of a range say. Pure."""
