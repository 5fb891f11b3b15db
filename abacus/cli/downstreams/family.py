"""Downstreams on the command line: their desk, and drafts in files."""

from contextlib import nullcontext
from typing import Final

from abacus.cli.documents.family import Family
from abacus.cli.terminal.answer import Secret, tell
from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import secrets, settings
from abacus.documents.types import DraftOutcome
from abacus.engage.downstreams.decide.downstream import Downstream
from abacus.engage.downstreams.desk import DownstreamDesk
from abacus.engage.downstreams.kind import DOWNSTREAMS, Allowed


def _allowed() -> Allowed:
    return Allowed(settings().webhooks_to_private)


def downstream_desk(at: CommandActor) -> DownstreamDesk:
    return DownstreamDesk(at.pool, at.clock, _allowed(), secrets())


def _show_secret(outcome: DraftOutcome[Downstream]) -> None:
    if (secret := outcome.told["secret"]) is not None:
        tell(Secret("what it gets is signed with this secret, which is shown this once", secret))


FAMILY: Final = Family(
    kind=DOWNSTREAMS,
    desk=lambda at: nullcontext(downstream_desk(at)),
    offline=_allowed,
    files="Downstreams, in TOML or JSON.",
    drafts="downstreams",
    one="a downstream",
    nothing_new="the downstreams are published already",
    sentence=lambda downstream: f"the {downstream.kind} {downstream.name}",
    afterwards=_show_secret,
)
