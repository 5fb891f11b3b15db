"""What the console asks: the rooms behind its pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from abacus.approving.card_desk import CardDesk
from abacus.console.entry.door import Door
from abacus.console.entry.provider import Provider
from abacus.console.entry.sessions import SessionStore
from abacus.console.errands.store import ErrandStore
from abacus.console.reading import Reading, Replica
from abacus.console.selections.store import SelectionStore
from abacus.console.web.outages import Outages
from abacus.core.clock import Clock
from abacus.core.errors import SetAside, Unavailable
from abacus.engage.campaigns.desk import CampaignDesk
from abacus.intake.partners.store import PartnerStore
from abacus.ledger.store.large_moves import LargeMoves, Mover
from abacus.oversight.status.sources import Group
from abacus.people.directory import PeopleDirectory
from abacus.people.store.approvals import Approvals
from abacus.people.store.people import PeopleStore
from abacus.platform.health import Health
from abacus.platform.postgres import Pool
from abacus.platform.quarantine.store import QuarantineStore
from abacus.platform.sqs.queue import Client
from abacus.pricing.store.reader import CardReader


@dataclass(frozen=True)
class Address:
    """Where browsers reach the console. `behind_proxy`: the last address that a proxy names is the browser's."""

    public_url: str
    behind_proxy: bool = False

    @property
    def is_secure(self) -> bool:
        return self.public_url.startswith("https://")


class Watched(NamedTuple):
    """What operations look at: the relay's topic, the prefix of the queues, and the workers that have to run; the
    consumer groups, where a broker is set, and the queues, where an address is.
    """

    points_topic: str
    queue_prefix: str
    pipeline: Sequence[str]
    groups: Sequence[Group] = ()
    kafka: str | None = None
    sqs: Client | None = None


@dataclass(frozen=True)
class Backends:
    """Everything that pages may ask. A page takes what it needs out of here; new pages add their rooms."""

    address: Address
    clock: Clock
    health: Health
    outages: Outages
    pool: Pool
    door: Door
    provider: Provider | None
    sessions: SessionStore
    directory: PeopleDirectory
    people: PeopleStore
    approvals: Approvals
    quarantine: QuarantineStore
    selections: SelectionStore
    cards: CardReader
    card_desk: CardDesk
    campaigns: CampaignDesk
    watched: Watched
    here: Reading
    move: Mover
    large: LargeMoves
    partners: PartnerStore
    errands: ErrandStore
    erases: bool  # whether the process has the login for it
    replica: Replica | None = None

    def zone_of(self, country: str) -> str | None:
        """The time zone of the country, by the card that is in force there."""
        try:
            return self.cards.book().in_force(country, self.clock.now()).card.timezone
        except (SetAside, Unavailable):
            return None
