"""Selections: items of the quarantine, chosen and frozen before anything is done with them."""
