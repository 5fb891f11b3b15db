"""The decisions about paces. Pure."""
