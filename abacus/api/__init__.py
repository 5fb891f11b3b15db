"""The HTTP face: health and metrics of every worker."""
