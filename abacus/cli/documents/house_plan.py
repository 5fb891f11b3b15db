"""What a directory of documents changes in the house, kind after kind."""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from abacus.cli.documents.drafts import FilePlan, Judged, file_plans, read_drafts
from abacus.cli.documents.family import Family
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.draft_files import FileFault, refuse
from abacus.cli.terminal.files import usable
from abacus.core.errors import Refused
from abacus.documents.kind import DocumentKind
from abacus.oversight.kinds import KINDS


def _family_of(kind: DocumentKind[Any, Any]) -> Family[Any, Any]:
    """From the folder of the kind's commands."""
    family: Family[Any, Any] = importlib.import_module(f"abacus.cli.{kind.command}.family").FAMILY
    return family


FAMILIES: Final = [_family_of(kind) for kind in KINDS]
_SUFFIXES: Final = frozenset({".toml", ".json"})


class KindPlan(NamedTuple):
    """What the files of a kind change, and what is in force and in no file."""

    family: Family[Any, Any]
    plans: Sequence[FilePlan[Any]]
    not_in_files: Sequence[str]

    @property
    def changing(self) -> Sequence[FilePlan[Any]]:
        return [plan for plan in self.plans if plan.changes]


async def plan_of(directory: Path, at: CommandActor) -> list[KindPlan]:
    """A kind without a folder is left alone. Each draft is judged beside what is published and the drafts of the
    directory. Raises `Refused`, and `DocumentFaults` with every fault of every file.
    """
    found, drafts, faults = [], dict[str, Sequence[Any]](), list[FileFault]()
    for family, files in _folders(directory):
        kind = family.kind
        async with family.desk(at) as desk:
            around = family.with_drafts(await desk.around(), drafts)
            read, bad = await read_drafts(files, kind, Judged(desk.read, around, await desk.neighbours()))
            faults += bad
            differences = await desk.differences([draft.document for draft in read])
            standing = await desk.standing()
        drafts[kind.command] = [draft.document for draft in read]
        there = {kind.identity(draft) for draft in drafts[kind.command]}
        missing = [kind.label(each) for each in standing if kind.identity(each.document) not in there]
        found.append(KindPlan(family, file_plans(read, differences), missing))
    refuse(faults)
    return found


def _folders(directory: Path) -> Iterator[tuple[Family[Any, Any], Sequence[Path]]]:
    """The files of each kind that has a folder. Raises `Refused` for a directory that has none."""
    folders: Mapping[str, Path] = {each.name: each for each in _entries(directory) if each.is_dir()}
    names = [family.kind.command for family in FAMILIES]
    if not folders.keys() & set(names):
        raise Refused(f"{directory} has no folder of documents; the folders are {', '.join(names)}")
    for family in FAMILIES:
        if family.kind.command in folders:
            yield family, [each for each in _entries(folders[family.kind.command]) if each.suffix in _SUFFIXES]


def _entries(folder: Path) -> list[Path]:
    with usable(folder):
        return sorted(folder.iterdir())
