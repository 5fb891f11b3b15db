"""The commands of event sources."""
