"""Points by the minute and how long they took to come: a picture for people, told by the processes that post. The books
are the ledger.
"""
