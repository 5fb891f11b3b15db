"""The quarantine: items that could not be processed, the reasons, and their replay."""
