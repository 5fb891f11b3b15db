"""Drafts: one page for every kind of documents, with its form, its check, its trials and its way to be published.

A kind declares what differs as a `DraftKind`, and serves `draft_pages` of it: the form is data that one template shows.
"""
