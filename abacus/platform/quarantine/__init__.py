"""What could not be processed, why, and its replay."""
