"""The decisions about buckets. Pure."""
