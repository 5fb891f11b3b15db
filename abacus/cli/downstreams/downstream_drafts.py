"""Draft downstreams: read from files, compared with the latest versions, published."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer

from abacus.cli.terminal.acting import acting
from abacus.cli.terminal.draft_files import FileFault, read_files, refuse
from abacus.cli.terminal.draft_plans import agreed, unchanged
from abacus.cli.terminal.shell import console, errors, pool, print_json, secrets, settings
from abacus.core.fields import Fault
from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.engage.downstreams.decide.reading import changes, faults_after, parse_downstream
from abacus.engage.downstreams.store import DownstreamStore
from abacus.people.types.deed import Deed
from abacus.platform.delivery.decide.signature import new_secret


class Draft(NamedTuple):
    """A downstream that is not published, and its file."""

    file: str
    downstream: Downstream


class Plan(NamedTuple):
    """The changes that publishing a draft makes to a version."""

    draft: Draft
    against: str | None
    changes: list[str]

    @property
    def file(self) -> str:
        return self.draft.file


def read_drafts(files: Sequence[Path]) -> tuple[list[Draft], list[FileFault]]:
    """The drafts of the files without faults, and the faults of the others."""
    read, faults = read_files(files, partial(parse_downstream, to_private=settings().webhooks_to_private))
    drafts: list[Draft] = []
    of_name: dict[str, str] = {}
    for file, downstream in read:
        if downstream.name in of_name:
            twice = Fault("name", f"{of_name[downstream.name]} is a draft of {downstream.name} too")
            faults.append(FileFault(Path(file), twice))
        else:
            of_name[downstream.name] = file
            drafts.append(Draft(file, downstream))
    return drafts, faults


async def publish_files(files: Sequence[Path], *, ask: bool, as_json: bool) -> None:
    """Say what the drafts change, ask, and publish those that change anything. A new secret is printed once. Raises
    `Refused`.
    """
    say = partial(typer.echo, err=as_json)  # standard output is for the one document
    rows: list[dict[str, object]] = []
    drafts, faults = read_drafts(files)
    refuse(faults)
    async with pool() as connections:
        store, at = DownstreamStore(connections, secrets()), await acting(connections)
        at.check(Deed.PUBLISH_DOWNSTREAMS)
        latest = {record.downstream.name: record.downstream for record in await store.latest()}
        plans = [_plan(draft, latest) for draft in drafts]
        for plan in agreed(plans, "the downstreams are published already", ask=ask, say=say):
            draft, secret = plan.draft.downstream, new_secret()
            also = at.does(Deed.PUBLISH_DOWNSTREAMS, f"downstream:{draft.name}", changes=plan.changes)
            published, is_new = await store.publish(draft, secret, by=at.actor.source, now=at.clock.now(), also=also)
            say(f"{published.label} published")
            if is_new and not as_json:
                errors.print("what it gets is signed with this secret, which is shown this once:", highlight=False)
                console.print(secret, highlight=False, soft_wrap=True)
            rows.append(
                {
                    "file": plan.file,
                    "name": published.label,
                    "against": plan.against,
                    "changes": plan.changes,
                    "secret": secret if is_new else None,
                }
            )
    if as_json:
        print_json({"published": rows, "unchanged": unchanged(plans)})


def _plan(draft: Draft, latest: Mapping[str, Downstream]) -> Plan:
    before = latest.get(draft.downstream.name)
    refuse([FileFault(Path(draft.file), fault) for fault in faults_after(before, draft.downstream)])
    against = before.label if before is not None and not before.retired else None
    return Plan(draft, against, changes(before, draft.downstream))
