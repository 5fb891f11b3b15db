"""The commands of people: their roles, approvals, and ways into the console."""
