"""What partners asked the API for lately, and how it was answered, for those who help them."""
