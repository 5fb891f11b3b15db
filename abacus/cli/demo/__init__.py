"""`abacus demo`: the command, the stream that it sends, and what follows the stream."""
