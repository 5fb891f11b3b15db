"""Where an award or a transaction is: in every place where it may be, from the stream to the ledger."""
