"""Places: where members are. Regions are drawn by country teams, shops stand at points, and both are found in memory."""
