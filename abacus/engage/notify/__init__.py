"""Notifications: members are told what became of their points and their tier."""
