"""Where members are: country teams draw regions, shops stand at points, and both are found in memory."""
