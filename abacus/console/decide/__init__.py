"""What pages show of values that other rooms hold. Pure."""
