"""Members bring the balance that they had in another system."""
