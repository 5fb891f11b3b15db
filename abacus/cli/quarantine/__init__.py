"""The commands of the quarantine."""
