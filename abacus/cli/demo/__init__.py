"""`abacus demo`: the command, its stream, and the steps after the stream."""
