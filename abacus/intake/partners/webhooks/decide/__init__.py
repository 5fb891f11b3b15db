"""What a webhook says, and what its signature covers. Pure."""
