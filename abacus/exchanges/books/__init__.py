"""Three books: our exchanges, the partner's statements, and what is billed and paid. Each difference is a break."""
