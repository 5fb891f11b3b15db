"""The tiers that members have in a program."""
