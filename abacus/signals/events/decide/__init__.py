"""Source documents, and how a message becomes an event by one. Pure."""
