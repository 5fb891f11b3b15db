"""What is on offer near a point: its regions, the places round it, and the best offers at each of them.

Distances and regions are exact, and computed from memory for each request. What is on offer at a place is kept by what
it follows from, so that places and requests that mean the same share an answer (docs/adr/0139).
"""
