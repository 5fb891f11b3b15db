"""The web pages of the house's own people. They ask the rooms that the API and the commands ask, and decide nothing.

`entry/` lets people in, `web/` is what all pages stand on, `pages/` are the pages, `errands/` runs commands for
people. A page is a typed value and a template; its JSON twin is the value (docs/adr/0057).
"""
