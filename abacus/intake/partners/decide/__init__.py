"""What partners may ask for, and how they prove who they are. Pure."""
