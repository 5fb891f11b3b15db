"""What offers at places mean, and for how long: pure."""
