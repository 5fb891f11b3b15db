"""Partners: who may award points over HTTP, and how much."""
