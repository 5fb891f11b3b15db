"""The commands of counters."""
