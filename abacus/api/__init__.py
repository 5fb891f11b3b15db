"""The HTTP API for partners, and the health and metrics of every worker."""
