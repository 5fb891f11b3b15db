"""The settings in use: what running processes were given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from abacus.console.web.calls import Call
from abacus.console.web.page import Page
from abacus.console.web.parts import Part
from abacus.oversight.status.decide.settings import SettingInUse, settings_in_use
from abacus.platform.presence.presence_note import Presence


@dataclass(frozen=True, kw_only=True)
class SettingsPage(Page):
    """What processes were given."""

    template: ClassVar[str] = "settings.html"
    settings: Part[Sequence[SettingInUse]]


async def settings(call: Call) -> SettingsPage:
    return SettingsPage(title="Settings", command="abacus settings", settings=await call.part(_in_use(call)))


async def _in_use(call: Call) -> Sequence[SettingInUse]:
    premises = call.premises
    return settings_in_use(await Presence(premises.pool, premises.clock).all(), call.now)
