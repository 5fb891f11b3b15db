"""What the pages of kinds share whose versions have states: a list by state, and the page of a version. A kind brings
its words, its bars and what stands on its page besides.
"""
