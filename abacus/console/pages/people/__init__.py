"""The pages of people: approvals, sessions, and the log of what was done."""

from typing import Final

from abacus.console.pages.people import approvals, log, own_sessions, people

SERVED: Final = (*approvals.SERVED, *own_sessions.SERVED, *people.SERVED, *log.SERVED)
