"""The decisions about deliveries. Pure."""
