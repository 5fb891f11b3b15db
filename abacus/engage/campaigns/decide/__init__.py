"""What a campaign says, and what follows from it for an event. Pure."""
