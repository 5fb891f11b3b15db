"""Drafts of documents that people have saved: each is one person's, others who may see it look at it and copy it."""
