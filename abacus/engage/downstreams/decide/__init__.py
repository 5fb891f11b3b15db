"""The decisions about downstreams. Pure."""
