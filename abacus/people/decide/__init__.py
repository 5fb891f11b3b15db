"""Who may do what, and what an approval allows. Pure."""
