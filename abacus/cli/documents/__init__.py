"""The commands that every kind of documents has: lint, diff, publish, list and show."""
