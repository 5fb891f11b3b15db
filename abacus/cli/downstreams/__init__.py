"""The commands of downstreams."""
