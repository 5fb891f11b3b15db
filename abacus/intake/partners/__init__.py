"""Partners, their rights and limits, and the awards and movements that they request over HTTP."""
