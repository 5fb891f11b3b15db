"""From a lookup to the slots that have to be summed. Pure."""
