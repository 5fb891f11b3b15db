"""`abacus journeys`: check, compare, publish, pause, resume, end and look at journeys."""

from typing import Final

from abacus.cli.documents.commands import add_diff, add_lint, add_publish
from abacus.cli.documents.stated_family import StatedColumns, add_moves, add_views
from abacus.cli.journeys.family import FAMILY
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act
from abacus.engage.journeys.decide.journey import Journey

app = CommandGroup(
    no_args_is_help=True, help="Journeys: members enter, wait, are told and given things, and leave, step by step."
)

_COLUMNS: Final[StatedColumns[Journey]] = {
    "country": lambda journey: journey.country,
    "nodes": lambda journey: len(journey.nodes),
    "starts_at": lambda journey: journey.starts_at.astimezone(journey.zone).isoformat(),
    "ends_at": lambda journey: journey.ends_at.astimezone(journey.zone).isoformat(),
}

add_lint(app, FAMILY)
add_diff(app, FAMILY)
add_publish(
    app, FAMILY, help_="Draft new versions and submit them. They take members in once another person has approved them."
)


add_moves(
    app,
    FAMILY,
    {
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause a journey within a second: nobody enters, and members wait where they are.",
        Act.RESUME: "Let a paused journey go on. Its document says what becomes of what fell due meanwhile.",
        Act.END: "End a journey for good. Its document says whether members inside finish.",
    },
)
add_views(app, FAMILY, "Journeys", _COLUMNS)
