"""People: who acts, by which right, what a second person approves, and the log of who did what.

A deed is written into the log in its own transaction. An approval binds another person to the digest of what was
asked; nobody approves what they asked for.
"""
