"""Letting people in: by a password, by a link that works once, or by a provider of identities; and their sessions."""
