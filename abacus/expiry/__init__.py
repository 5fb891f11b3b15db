"""When points lapse."""
