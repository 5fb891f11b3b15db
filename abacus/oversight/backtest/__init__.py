"""The points that a draft rate card would have awarded."""
