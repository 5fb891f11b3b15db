"""A month's books are closed: checked, written as files, and signed by a person, on a record that only grows."""
