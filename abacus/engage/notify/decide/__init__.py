"""Decisions about notifications: their news, their words, their time and their pace. Pure."""
