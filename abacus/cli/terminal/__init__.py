"""What all commands share: running, failing in one line, and printing for people and for programs."""
