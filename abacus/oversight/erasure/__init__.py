"""Members as persons: where their data lies, and how it is erased."""
