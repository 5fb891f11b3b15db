"""What a trial of a reward on the past says, in sentences and tables. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from abacus.console.decide.charts import Chart, by_day
from abacus.console.decide.trials import TrialWords
from abacus.console.errands.decide.documents import Cell, Column, Table

Document = Mapping[str, Any]
_LATEST: Final = 100
_FIGURES: Final = (("could", "could first"), ("pieces", "pieces"), ("points", "points"), ("liability", "liability"))


def would_have_meant(document: Document) -> TrialWords:
    """Who could have afforded it, and what members would have taken of it."""
    points, first = f"{document['points']:,} points", document["first_could_afford"]
    worth = f", a liability of {document['liability']} {document['liability_currency']}"
    taken = (
        f"{document['pieces']:,} pieces would have gone to {document['members']:,} members, to one of them"
        f" {document['most_of_a_member']:,}, for {points}{'' if document['liability'] is None else worth}."
    )
    says = [
        f"{document['could_afford']:,} members could have afforded it{'' if first is None else f', from {first} on'}.",
        taken,
        *([f"{document['without']:,} members would have come too late."] if document["without"] else []),
        *(
            [f"{document['for_others']:,} members had the points: it is not for them."]
            if document["for_others"]
            else []
        ),
        *([f"The last piece would have gone on {document['gone_on']}."] if document["gone_on"] else []),
        *(f"Assumed: {each}." for each in document["assumed"]),
    ]
    days = document["days"]
    tables = [
        *([_table("tiers", "By tier", ("tier",), document["tiers"])] if document["tiers"] else []),
        *([_table("days", "By day and tier", ("day", "tier"), days)] if days else []),
    ]
    return TrialWords(says, tables, _by_day(days))


def _table(name: str, title: str, facts: Sequence[str], lines: Sequence[Document]) -> Table:
    columns = [*map(Column, facts), *(Column(label, is_number=True) for _, label in _FIGURES)]
    rows: list[list[Cell]] = [
        [*(each[fact] for fact in facts), *(each[figure] for figure, _ in _FIGURES)] for each in lines[-_LATEST:]
    ]
    return Table(name, title, columns, rows, len(lines))


def _by_day(days: Sequence[Document]) -> Chart | None:
    """Members who could afford it for the first time, and the pieces."""
    counts: dict[str, Counter[date]] = {"could afford it first": Counter(), "pieces": Counter()}
    for each in days:
        day = date.fromisoformat(each["day"])
        counts["could afford it first"][day] += each["could"]
        counts["pieces"][day] += each["pieces"]
    return by_day("By day", "members and pieces", counts) if days else None
