"""The commands of partners and their webhooks."""
