"""What errands are made of and what came of them. Pure."""
