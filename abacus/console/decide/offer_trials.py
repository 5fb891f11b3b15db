"""What trials of offers say, in sentences and tables. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

from abacus.console.decide.charts import Chart, by_day
from abacus.console.decide.trials import TrialWords
from abacus.console.errands.decide.documents import Cell, Column, Table, tables_of

Document = Mapping[str, Any]
_GIVEN: Final = "given"
_LATEST: Final = 100
_TABLES: Final = {"items": "What is answered", "refused": "Offers that came close"}


def answered(document: Document) -> TrialWords:
    """What is answered to requests with the offer among those in force."""
    known = {each.name: each for each in tables_of(document)}
    return TrialWords(
        [_verdict(document["offer"], each) for each in document["verdicts"]],
        [replace(known[name], title=title) for name, title in _TABLES.items() if name in known],
    )


def _verdict(offer: str, verdict: Document) -> str:
    if verdict["reason"] is None:
        return f"Request {verdict['request']}: {offer} fits {verdict['items']} and saves {verdict['saves']}."
    needs = f": {verdict['needs']}" if verdict["needs"] else ""
    return f"Request {verdict['request']}: {offer} does not fit by {verdict['reason']}{needs}."


def would_have_given(document: Document) -> TrialWords:
    """What an offer would have given for the purchases of a window of the past."""
    currency, most = document["currency"], document["most_of_a_member"]
    got = f"{currency} {document['money']} and {document['points']:,} points"
    not_fitting = ", ".join(f"{count:,} by {reason}" for reason, count in document["does_not_fit"].items())
    says = [
        f"{document['purchases']:,} purchases looked at, {document['given']:,} of them get something.",
        f"{document['members']:,} members would have got {got}.",
        f"One of them {currency} {most['money']} and {most['points']:,} points.",
        *([f"It does not fit {not_fitting}."] if not_fitting else []),
        *(
            [f"The liability of the points is {document['liability']} {document['liability_currency']}."]
            if document["liability"] is not None and document["points"]
            else []
        ),
        *(["Nobody is invited yet: all members counted as invited."] if document["everybody_invited"] else []),
    ]
    columns = [
        Column("day"),
        Column("outcome"),
        *(Column(each, is_number=True) for each in ("purchases", currency, "points")),
    ]
    days = document["days"]
    rows: list[list[Cell]] = [
        [each["day"], each["outcome"], each["purchases"], each["money"], each["points"]] for each in days[-_LATEST:]
    ]
    tables = [Table("days", "By day and outcome", columns, rows, len(days))] if rows else []
    missing = ", ".join(document["not_told"])
    warns = f"Past purchases name no {missing}: of these it fits none." if missing else None
    return TrialWords(says, tables, _by_day(days), warns)


def _by_day(days: Sequence[Document]) -> Chart | None:
    """Purchases with the offer, and purchases that a limit kept from it."""
    counts: dict[str, Counter[date]] = {}
    for each in days:
        label = "with the offer" if each["outcome"] == _GIVEN else "beyond a limit"
        counts.setdefault(label, Counter())[date.fromisoformat(each["day"])] += each["purchases"]
    return by_day("Purchases by day", "purchases", counts)
