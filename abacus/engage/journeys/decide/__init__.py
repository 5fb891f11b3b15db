"""Where members of journeys go, and who goes together: pure."""
