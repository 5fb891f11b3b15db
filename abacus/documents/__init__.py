"""Published documents, once: each kind says how it is read, checked and shown, and the kit does the rest.

Versions count from 1 and none is ever changed. `DocumentStore` keeps them, `DocumentDirectory` serves one moment of
them in memory, and `DocumentDesk` is the one door: command line, API and console go through it, with the log.
A `StatedKind` has versions that a second person approves: `StatedStore` and `StatedDesk` go with it.
"""
