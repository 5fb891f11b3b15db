"""What a draft rate card would have awarded."""
