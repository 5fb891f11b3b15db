"""Following: leading work in one process at a time, walking and publishing the rows of a table in order, reading
topics.
"""
