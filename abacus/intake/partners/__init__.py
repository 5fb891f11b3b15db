"""Partners, their rights and limits, and the awards and movements that they request over HTTP.

An award is entered under its idempotency key before it is sent. Limits are exact, because they are kept where awards
are posted. A movement is decided at once, in the ledger.
"""
