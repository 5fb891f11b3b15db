"""A move of the members of a journey as tasks: the command counts who would land where, and moves them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlencode

from abacus.console.decide.migration_words import moved, would_move
from abacus.console.errands.types import NO_PAPERS, Order
from abacus.console.pages.drafts.trials import Trial
from abacus.console.pages.operations.errands import Done, ask, newest
from abacus.console.web.calls import Call
from abacus.console.web.page import See
from abacus.engage.journeys.decide.migration import Migration
from abacus.people.decide.agreement import digest_of
from abacus.people.types.approval import Approval

NODE: Final = "node-"  # before the name of a node, for the node where its members land
_DRY_RUN: Final = "journey-migration-dry-run"
_MOVE: Final = "journey-migration"
_FILE: Final = "map.json"
_DIGITS: Final = 16  # of the digest, by which tasks of one move are found again


@dataclass(frozen=True)
class Move:
    """Two versions of a journey, and the counterparts of nodes that are called otherwise there. `digest` is that of its
    approval.
    """

    name: str
    country: str | None
    before: int
    after: int
    map: Mapping[str, str]
    digest: str

    @classmethod
    def of(cls, approval: Approval, document: Any) -> Self:
        """That which an approval is about."""
        nodes = {name: there for name, there in document["nodes"].items() if name != there}
        return cls(approval.subject, approval.country, document["from"], document["to"], nodes, approval.digest)

    @classmethod
    def from_(cls, migration: Migration) -> Self:
        proposal, before = migration.proposal(0), migration.before
        digest = digest_of(*proposal[:3], proposal.document)
        return cls(before.name, before.country, before.version, migration.after.version, migration.named, digest)

    @property
    def versions(self) -> tuple[str, int, int]:
        return self.name, self.before, self.after

    @property
    def address(self) -> str:
        """The page of the move."""
        nodes = {f"{NODE}{name}": there for name, there in self.map.items()}
        return f"/journeys/{self.name}/migrate?{urlencode({'from': self.before, **nodes})}"

    def order(self, kind: str, *options: str) -> Order:
        file = (f"--map={_FILE}",) if self.map else ()
        between = f"--from={self.before}", f"--to={self.after}"
        arguments = ("journeys", "migrate", self.name, *between, *file, *options, "--json")
        papers = {_FILE: json.dumps(self.map)} if self.map else NO_PAPERS
        return Order(kind, self._subject, self.country, arguments, papers)

    @property
    def _subject(self) -> str:
        return f"{self.name} {self.digest[:_DIGITS]}"

    async def dry_run(self, call: Call) -> Done | None:
        """The newest one. Raises `Unavailable`."""
        return await newest(call, _DRY_RUN, self._subject)

    async def run(self, call: Call) -> Done | None:
        """The newest move of the members. Raises `Unavailable`."""
        return await newest(call, _MOVE, self._subject)


async def trials_of_move(call: Call, move: Move, path: str) -> Sequence[Trial]:
    """How far the move is, and the newest dry run. Raises `Unavailable`."""
    title = f"version {move.before} to version {move.after}"
    run, dry_run = await move.run(call), await move.dry_run(call)
    trials = []
    if run is not None:
        words = None if run.document is None else moved(run.document)
        trials.append(Trial(f"Members move from {title}", path, run, words))
    if dry_run is not None:
        words = None if dry_run.document is None else would_move(dry_run.document)
        trials.append(Trial(f"Who would land where, from {title}", path, dry_run, words))
    return trials


async def try_move(call: Call, move: Move, path: str) -> See:
    return await ask(call, move.order(_DRY_RUN, "--dry-run"), path)


async def make_move(call: Call, move: Move, path: str) -> See:
    return await ask(call, move.order(_MOVE), path)
