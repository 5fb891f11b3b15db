"""The desk of people on the command line."""

from abacus.cli.terminal.command_actor import CommandActor
from abacus.cli.terminal.shell import settings
from abacus.console.entry.authenticators import Authenticators
from abacus.console.entry.desk import PeopleDesk
from abacus.console.entry.links import Links
from abacus.console.entry.passwords import Passwords
from abacus.people.store.people import PeopleStore
from abacus.platform.encryption import Secrets
from abacus.platform.settings import Settings


def people_desk(at: CommandActor, config: Settings | None = None) -> PeopleDesk:
    """By the settings of this process where no others are given."""
    config = config or settings()
    return PeopleDesk(
        PeopleStore(at.pool, at.clock),
        at.clock,
        passwords=Passwords(at.pool, at.clock),
        links=Links(at.pool, at.clock),
        authenticators=Authenticators(at.pool, at.clock, Secrets.of(config.secrets_key)),
        address=console_url(config),
    )


def console_url(config: Settings) -> str:
    return config.console_public_url or f"http://{config.console_host}:{config.console_port}"
