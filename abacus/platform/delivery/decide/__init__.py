"""What is decided about deliveries. Pure."""
