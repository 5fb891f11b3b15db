"""What a journey says, and what is decided by it. Pure."""
