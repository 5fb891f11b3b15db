"""What transactions name as redeemed, held against it: for people who ask, and for the account of a window."""
