"""Errands: commands that the console runs for people, beside its pages."""
