"""Drafts: one page for every kind of documents, with its form, its check, its trials and its way to be published.

A kind declares what differs as a `DraftKind`, and serves `draft_pages` of it: the form is data that one template shows.
A draft of any kind is saved, and stands in the list of drafts for people who may see it.
"""

from typing import Final

from abacus.console.pages.drafts import draft_list
from abacus.console.web.routes import form, page

SERVED: Final = (
    page("/drafts", draft_list.drafts),
    page("/drafts/{draft:uuid}", draft_list.saved_draft),
    form("/drafts/{draft:uuid}/delete", draft_list.delete),
)
