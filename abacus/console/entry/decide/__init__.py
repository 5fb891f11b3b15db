"""The decisions about who is let in, and for how long. Pure."""
