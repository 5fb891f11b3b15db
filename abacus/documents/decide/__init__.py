"""What is decided of documents: labels, states and differences in words. Pure."""
