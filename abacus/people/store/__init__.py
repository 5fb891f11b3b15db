"""People, tokens, approvals and the log in Postgres."""
