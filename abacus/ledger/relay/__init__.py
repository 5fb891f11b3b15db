"""Publishing what was posted on the points stream."""
