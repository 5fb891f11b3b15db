"""What a transfer was for, and how far the next tier is. Pure."""
