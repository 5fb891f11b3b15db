"""The pages: each module has the values of its pages, the functions that make them, and their routes."""
