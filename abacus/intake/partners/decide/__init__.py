"""The rights of partners, the checks of their requests, and their keys and signatures. Pure."""
