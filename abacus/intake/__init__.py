"""Points enter here: transactions from the stream, awards from the queue, requests of partners."""
