"""What trials of a campaign say, in sentences: what it would do for an event, and what it would have done. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from abacus.console.decide.outcomes import Series, series_of

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Looked:
    """A condition, in the order looked at."""

    condition: str
    value: str
    origin: str
    holds: bool


@dataclass(frozen=True)
class Simulated:
    """What a campaign would do for one event."""

    looked: Sequence[Looked]
    says: Sequence[str]


class DayLine(NamedTuple):
    """The events of a day with one outcome, in one arm."""

    day: date
    variant: str
    outcome: str
    events: int
    points: int
    cost: float


@dataclass(frozen=True)
class Backtested:
    """What a campaign would have done in a window of the past."""

    says: Sequence[str]
    days: Sequence[DayLine]
    chart: Series


def simulated(document: Document) -> Simulated:
    looked = [Looked(**each) for each in document["conditions"]]
    if document["against"] is not None:
        return Simulated(looked, [f"Nothing is done: {document['against']}."])
    count = f" at count {document['count']}" if document["count"] is not None else ""
    arm = f", in the arm {document['variant']}" if document["variant"] is not None else ""
    refused = f", refused by {document['refused_by']}" if document["refused_by"] is not None else ""
    done = f"The event is {document['outcome']}{count}{arm}{refused}: {document['points']:,} points."
    actions = [f"{each['kind']} to {each['receiver']}, due {each['due_at']}" for each in document["actions"]]
    return Simulated(looked, [done, *actions])


def backtested(document: Document) -> Backtested:
    days = [DayLine(**{**each, "day": date.fromisoformat(each["day"])}) for each in document["days"]]
    members, points = document["members"], document["points"]
    got = f"{members:,} {'member' if members == 1 else 'members'} would have got {points:,} points"
    says = [
        f"{document['read']:,} events read, {document['events']:,} of them decided.",
        *([f"Beside it: {', '.join(beside)}."] if (beside := document.get("beside")) else []),
        f"{got}, one of them {document['most_points_of_a_member']:,}.",
        *([f"It would have cost {document['cost']:,.2f} of its budget."] if document["cost"] else []),
        f"Its liability is {document['liability']} {document['currency']}."
        if document["liability"] is not None
        else "Its liability is unknown: nothing is assumed of the cost of a point.",
        *([f"{document['faulty']:,} messages could not be decided."] if document["faulty"] else []),
    ]
    return Backtested(says, days, series_of(days))
