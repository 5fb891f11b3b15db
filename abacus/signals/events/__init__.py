"""Events: what happened, read from any topic by the source document of its stream."""
