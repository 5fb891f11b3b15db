"""Rules are read, typed and compiled here. Pure."""
