"""The documents of the demo's house: exported to files, which `abacus apply` would leave as they are."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from abacus.cli.documents.export import write_documents
from abacus.cli.documents.house_plan import plan_of
from abacus.cli.terminal.command_actor import CommandActor, login
from abacus.core.clock import SystemClock
from abacus.people.types.person import Actor
from abacus.platform.postgres import Pool


async def export_documents(pool: Pool) -> Mapping[str, int]:
    """The number of files that an export writes, and of changes that applying them would make."""
    at = CommandActor(Actor(login(), None), people_required=False, pool=pool, clock=SystemClock())
    with tempfile.TemporaryDirectory(prefix="abacus-documents-") as directory:
        written = await write_documents(Path(directory), at)
        plans = await plan_of(Path(directory), at)
    return {"exported": len(written), "changed_by_apply": sum(len(plan.changing) for plan in plans)}
