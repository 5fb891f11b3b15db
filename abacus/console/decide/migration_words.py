"""Members of a journey who go over to another version, in sentences and tables: who lands where. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from abacus.console.decide.journey_picture import Marks, what_happens
from abacus.console.decide.trials import TrialWords
from abacus.console.errands.decide.documents import Cell, Column, Table
from abacus.documents.form.sentences import Sentence
from abacus.documents.form.types import Table as Document
from abacus.engage.journeys.decide.migration import GoesOn, Migration

_GO_ON: Final[Mapping[str, str]] = {
    GoesOn.BY_ITS_START: "the wait there counts from the start of theirs",
    GoesOn.AS_BEFORE: "they go on when they would have",
    GoesOn.AT_ONCE: "they go on at once",
}
_COLUMNS: Final = (Column("from"), Column("to"), Column("and then"), Column("members", is_number=True))


def landings(migration: Migration, before: Document, after: Document) -> Sequence[Sentence]:
    """Where the members of each node land, and when they go on, by the documents of both versions."""
    told = []
    for node in migration.nodes():
        landing = migration.landing(node.number)
        if landing is not None:
            there, goes_on = landing
            was, is_ = _does(before, node.name), _does(after, there.name)
            place = f"go over to {there.name} ({is_})"
            if there.name == node.name:
                place = "stay there" if was == is_ else f"stay there, and then it is: {is_}"
            told.append(Sentence(f"Members at {node.name}", f"({was}) {place}; {_GO_ON[goes_on]}."))
    return told


def arrivals(migration: Migration) -> Marks:
    """The nodes of the other version where members land who waited somewhere else."""
    words: dict[str, list[str]] = {}
    for node in migration.nodes():
        landing = migration.landing(node.number)
        if landing is not None and landing.node.name != node.name:
            words.setdefault(landing.node.name, []).append(node.name)
    return Marks(
        words={to: f"from {came[0] if len(came) == 1 else f'{len(came)} nodes'}" for to, came in words.items()}
    )


def would_move(document: Mapping[str, Any]) -> TrialWords:
    """What a dry run found."""
    members = document["members"]
    says = f"{counted(members)} would be moved. Nothing was changed." if members else "Nobody is there to be moved."
    return TrialWords([says], _table("Where members would land", document))


def moved(document: Mapping[str, Any]) -> TrialWords:
    """What the move did."""
    if document["moved"] is None:
        return TrialWords(["Nobody was moved: it waits for another person."])
    moved = document["moved"]
    says = f"{counted(moved)} {'was' if moved == 1 else 'were'} moved."
    return TrialWords([says], _table("Where members landed", document))


def counted(members: int) -> str:
    return f"{members:,} member{'' if members == 1 else 's'}"


def _table(title: str, document: Mapping[str, Any]) -> Sequence[Table]:
    rows: list[list[Cell]] = [
        [each["from"], each["to"], _GO_ON.get(each["goes_on"], each["goes_on"]), each["members"]]
        for each in document["nodes"]
    ]
    return [Table("nodes", title, _COLUMNS, rows, len(rows))] if rows else []


def _does(document: Document, node: str) -> str:
    return what_happens(document["nodes"][node])
