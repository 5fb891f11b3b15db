"""What a webhook says, and how long it is tried. Pure."""
