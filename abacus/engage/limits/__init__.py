"""What all members share of a limit: a pot for each, taken from by many processes at once, exact to the last point."""
