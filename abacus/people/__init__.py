"""People: who acts, by which right, what a second person approves, and the log of who did what."""
