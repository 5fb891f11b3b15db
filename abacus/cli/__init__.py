"""The command line: a command reads its arguments, asks one room, and prints.

It prints for people or, with `--json`, for programs. It exits with 0 when done, 1 when something is wrong or down, and
2 when it refuses.
"""
