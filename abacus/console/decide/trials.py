"""What trials of drafts say, in sentences and tables: what a draft would do, and what it would have done. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from abacus.console.decide.charts import Chart, runs_by_day
from abacus.console.errands.decide.documents import Cell, Column, Table, tables_of

Document = Mapping[str, Any]
_LATEST_DAYS: Final = 100
_OF_A_CARD: Final = (
    "total",
    "liability",
    "by_vertical",
    "by_payment_type",
    "by_tier",
    "by_country",
    "by_month",
    "unpriced",
    "lapses",
    "rows",
)


@dataclass(frozen=True)
class TrialWords:
    """What came of a trial. `warns` is what a person has to know of it."""

    says: Sequence[str]
    tables: Sequence[Table] = ()
    chart: Chart | None = None
    warns: str | None = None


def simulated(document: Document) -> TrialWords:
    """What a campaign would do for one event."""
    looked = document["conditions"]
    rows = [
        [each["condition"], each["value"], each["origin"], "holds" if each["holds"] else "does not hold"]
        for each in looked
    ]
    columns = [Column("condition"), Column("value"), Column("from"), Column("outcome", is_badge=True)]
    tables = [Table("conditions", "Conditions, in the order looked at", columns, rows, len(rows))] if rows else []
    if document["against"] is not None:
        return TrialWords([f"Nothing is done: {document['against']}."], tables)
    count = f" at count {document['count']}" if document["count"] is not None else ""
    arm = f", in the arm {document['variant']}" if document["variant"] is not None else ""
    refused = f", refused by {document['refused_by']}" if document["refused_by"] is not None else ""
    done = f"The event is {document['outcome']}{count}{arm}{refused}: {document['points']:,} points."
    actions = [
        f"{each['kind']}{_what(each)} to {each['receiver']}, due {each['due_at']}" for each in document["actions"]
    ]
    return TrialWords([done, *actions], tables)


def backtested(document: Document) -> TrialWords:
    """What a campaign would have done in a window of the past."""
    days = document["days"]
    members, points = document["members"], document["points"]
    got = f"{members:,} {'member' if members == 1 else 'members'} would have got {points:,} points"
    says = [
        f"{document['read']:,} events read, {document['events']:,} of them decided.",
        *([f"Beside it: {', '.join(beside)}."] if (beside := document.get("beside")) else []),
        f"{got}, one of them {document['most_points_of_a_member']:,}.",
        *(_granted(each, document["currency"]) for each in document.get("granted", ())),
        *([f"It would have cost {document['cost']:,.2f} of its budget."] if document["cost"] else []),
        f"Its liability is {document['liability']} {document['currency']}."
        if document["liability"] is not None
        else "Its liability is unknown: nothing is assumed of the cost of a point.",
        *([f"{document['faulty']:,} messages could not be decided."] if document["faulty"] else []),
    ]
    columns = [
        Column("day"),
        Column("arm"),
        Column("outcome"),
        *(Column(each, is_number=True) for each in ("events", "points")),
    ]
    rows: list[list[Cell]] = [
        [each["day"], each["variant"] or "–", each["outcome"], each["events"], each["points"]]
        for each in days[-_LATEST_DAYS:]
    ]
    tables = [Table("days", "By day, arm and outcome", columns, rows, len(days))] if rows else []
    runs = [(date.fromisoformat(each["day"]), each["variant"], each["outcome"], each["events"]) for each in days]
    return TrialWords(says, tables, runs_by_day(runs))


def _what(action: Document) -> str:
    """What a deed grants."""
    if action["kind"] != "grant":
        return ""
    return "".join(f" the {what} {name}" for what, name in action["document"].items())


def _granted(each: Document, currency: str | None) -> str:
    what = f"the offer {each['offer']}" if "offer" in each else f"the reward {each['reward']}"
    price = "" if each["points"] is None else f", for which members pay {each['points']:,} points"
    worth = "" if each["worth"] is None else f" ({each['worth']} {currency})"
    return f"Granted {each['times']:,} {'time' if each['times'] == 1 else 'times'}: {what}{price}{worth}."


def repriced(document: Document) -> TrialWords:
    """What a rate card would have awarded: the sums first, then along each dimension."""
    scope, begin, end = (document[each] for each in ("scope", "from", "until"))
    known = {each.name: each for each in tables_of(document)}
    without = document["without_cost"]
    return TrialWords(
        [f"Awards of {scope} from {begin} until {end}, priced again by this card."],
        [known[name] for name in _OF_A_CARD if name in known],
        warns=f"No liability for {', '.join(without)}: nothing is assumed of the cost of a point." if without else None,
    )
