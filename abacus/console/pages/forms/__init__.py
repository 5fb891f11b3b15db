"""Pages of forms that are no document's: declared by fields, shown once more, and then done."""
