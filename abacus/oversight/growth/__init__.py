"""What grows: how long the rows of each table stay, how large tables are by day, and when the disk is full."""
