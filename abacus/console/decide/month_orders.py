"""The commands that close a month, as tasks that a person of finance asks for. Pure."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from abacus.console.errands.types import Errand, Order
from abacus.programs.expiry.decide.month import Month

RECONCILE: Final = "close-reconcile"
CHECK: Final = "close-check"
SIGN: Final = "close-sign"
_FILES: Final = (("rollforward", "csv"), ("journal", "csv"), ("accounts", "toml"), ("reconciled", "json"))


def messages_order(month: Month, begin: datetime, end: datetime) -> Order:
    """Accounts for every message between these times."""
    arguments = ("reconcile", f"--from={begin.isoformat()}", f"--to={end.isoformat()}", "--json")
    return Order(RECONCILE, str(month), None, arguments)


def review_order(
    month: Month, account: Mapping[str, Any] | None, accepted: Sequence[str] = (), reason: str = ""
) -> Order:
    """With the account of the month's messages, if one was made."""
    arguments, papers = ["report", "close", f"--month={month}"], dict[str, str]()
    if account is not None:
        name = f"reconciled-{month}.json"
        papers[name] = json.dumps(account)
        arguments.append(f"--reconciled={name}")
    arguments += [f"--accept={each}" for each in accepted]
    if reason:
        arguments.append(f"--reason={reason}")
    return Order(CHECK, str(month), None, (*arguments, "--check", "--json"), papers)


def signature_order(month: Month, review: Errand) -> Order:
    """With the papers and the acceptances of the review."""
    arguments = tuple(each for each in review.arguments if each != "--check")
    keeps = tuple(f"{name}-{month}.{ending}" for name, ending in _FILES)
    return Order(SIGN, str(month), None, arguments, json.loads(review.papers), keeps)
