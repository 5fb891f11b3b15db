"""What the console runs for people, in words, and what each task is about. Pure."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from abacus.console.decide.named import Named


class TaskKind(NamedTuple):
    """A kind of tasks: its words, and the kind of the thing that its subject begins with, where that has a page."""

    words: str
    about: str = ""


_REPORT: Final = "report-"

# A kind that does not stand here is said as it is called.
_KINDS: Final[Mapping[str, TaskKind]] = {
    "campaign-simulate": TaskKind("Campaign tried with an event", "campaign"),
    "campaign-backtest": TaskKind("Campaign tried with earlier events", "campaign"),
    "campaign-report": TaskKind("Report of a campaign", "campaign"),
    "journey-simulate": TaskKind("Journey tried with a member", "journey"),
    "journey-dry-run": TaskKind("Journey tried with a segment", "journey"),
    "journey-migration-dry-run": TaskKind("Move of a journey's members tried", "journey"),
    "journey-migration": TaskKind("Members of a journey moved", "journey"),
    "offer-simulate": TaskKind("Offer tried with a request", "offer"),
    "offer-backtest": TaskKind("Offer tried with earlier purchases", "offer"),
    "reward-backtest": TaskKind("Reward tried with earlier points", "reward"),
    "rates-backtest": TaskKind("Rates tried with earlier transactions", "card"),
    "close-check": TaskKind("Check of a month", "month"),
    "close-reconcile": TaskKind("Messages of a month accounted for", "month"),
    "close-sign": TaskKind("Signing of a month", "month"),
    "expiry": TaskKind("Ends of months that are due"),
    "verify": TaskKind("Ledger verified"),
    "reconcile": TaskKind("Messages accounted for"),
    "proof": TaskKind("Proof of an account", "person"),
    "seal": TaskKind("Seal of the ledger"),
    "where": TaskKind("Search in every place"),
    "dead-letters": TaskKind("Count of dead letters"),
    "dead-letters-redrive": TaskKind("Dead letters sent back"),
    "quarantine-dry-run": TaskKind("Dry run of a replay"),
    "quarantine-replay": TaskKind("Replay of what was set aside"),
    "webhook trial": TaskKind("Trial of a webhook", "partner"),
    "downstream-trial": TaskKind("Trial of a downstream", "downstream"),
    "erase": TaskKind("Member erased", "member"),
}


def words_of(kind: str) -> str:
    known, report = _KINDS.get(kind), kind.removeprefix(_REPORT)
    if known is not None:
        return known.words
    return f"Report of {report}" if report != kind else kind.replace("-", " ").capitalize()


def about_of(kind: str, subject: str) -> Named:
    """The thing, where it has a kind; of a trial the digest of its document is left out."""
    of = _KINDS.get(kind, TaskKind("")).about
    return Named(of, subject.partition(" ")[0] if of in {"campaign", "card", "journey", "offer", "reward"} else subject)
