"""`abacus settings`: the settings of running processes, side by side."""

from abacus.cli.terminal.answer import Answer, Table
from abacus.cli.terminal.shell import pool
from abacus.core.clock import SystemClock
from abacus.oversight.status.decide.settings import settings_in_use
from abacus.platform.presence.presence_note import Presence


async def settings() -> Answer:
    """Show the settings that running processes were given. Differing ones come first.

    Of secrets, and of addresses that may hold one, only that they are set. A setting that no process was given has its
    default: docs/operate/settings.md lists them.
    """
    clock = SystemClock()
    async with pool() as opened:
        found = settings_in_use(await Presence(opened, clock).all(), clock.now())
    rows = [
        [setting.name, "the default" if each.value is None else each.value, ", ".join(each.processes)]
        for setting in found
        for each in setting.given
    ]
    return Answer(
        [{"name": e.name, "given": [each._asdict() for each in e.given]} for e in found],
        Table("Settings", ["setting", "value", "processes"], rows),
    )
