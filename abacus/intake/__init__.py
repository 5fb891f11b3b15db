"""Where points come in: transactions from the stream, awards from the queue, requests of partners."""
