"""Forms: a kind declares the fields of its documents once, and everything that people see of a document follows.

`types` has the declaration; `view` shows it, `edit` says what a typed form changes, `text` changes TOML and keeps its
comments, `faults` finds the field of a fault, `sentences` and `changes` tell a document, `schema` and `example` are
for manuals. Pure, and without HTML.
"""
