"""What members are told, when, and at what pace. Pure."""
