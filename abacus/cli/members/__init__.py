"""The commands of members: their points, tiers, expiry and messages."""
