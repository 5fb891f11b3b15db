"""What is known of members: events, rules over them, counters, and segments. Nothing is done here."""
