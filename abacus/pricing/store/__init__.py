"""Rate cards in Postgres, and the copy of them that each process keeps."""
