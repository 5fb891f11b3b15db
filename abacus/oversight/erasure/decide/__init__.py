"""How a member becomes a pseudonym. Pure."""
