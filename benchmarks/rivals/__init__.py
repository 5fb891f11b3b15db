"""The same awards posted to this ledger and to others, in turns: `make bench ARGS="--rivals"`."""
