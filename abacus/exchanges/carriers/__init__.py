"""How the house speaks with partners."""
