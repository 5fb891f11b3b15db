"""The messages of webhooks, and how long each is tried. Pure."""
