"""`abacus journeys`: check, compare, publish, pause, resume, end and look at journeys."""

from abacus.cli.documents.stated_family import add_stated
from abacus.cli.journeys.family import FAMILY
from abacus.cli.terminal.shell import CommandGroup
from abacus.documents.decide.states import Act

app = CommandGroup(
    no_args_is_help=True, help="Journeys: members enter, wait, are told and given things, and leave, step by step."
)

add_stated(
    app,
    FAMILY,
    "Journeys",
    own={"nodes": lambda journey: len(journey.nodes)},
    once_approved="They take members in",
    moves={
        Act.WITHDRAW: "Take a submitted version back: it is a draft again, and cannot be approved.",
        Act.PAUSE: "Pause a journey within a second: nobody enters, and members wait where they are.",
        Act.RESUME: "Let a paused journey go on. Its document says what becomes of what fell due meanwhile.",
        Act.END: "End a journey for good. Its document says whether members inside finish.",
    },
)
