"""Members who ask for something that is not for everybody: what is known of them, and what rules may look up."""
