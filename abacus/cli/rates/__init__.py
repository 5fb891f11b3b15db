"""The commands of rate cards."""
