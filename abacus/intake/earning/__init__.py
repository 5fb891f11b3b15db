"""A transaction becomes an award."""
