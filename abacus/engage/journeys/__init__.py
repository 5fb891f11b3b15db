"""Journeys: many steps over many days, for herds of members at once."""
