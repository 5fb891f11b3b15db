"""Where a point lies, what is near it, and what a document of regions or places says."""
