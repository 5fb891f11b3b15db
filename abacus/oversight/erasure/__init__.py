"""Members as persons: what is kept of them, and how it is taken out."""
