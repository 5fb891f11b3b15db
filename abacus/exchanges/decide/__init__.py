"""What is exchanged, by which terms, and where an exchange stands. Pure."""
