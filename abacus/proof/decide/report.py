"""The result of verifying: each fault with the row that has it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

MOST_FAULTS: Final = 1000  # are named; further faults are counted


class Fault(NamedTuple):
    """One row with a fault."""

    member_id: str
    program: str
    seq: int
    what: str

    def __str__(self) -> str:
        return f"{self.member_id} {self.program} #{self.seq}: {self.what}"

    @property
    def place(self) -> tuple[str, ...]:
        """Accounts come first: a fault of a row tells more."""
        return ("", self.member_id, self.program)

    @property
    def facts(self) -> dict[str, object]:
        return self._asdict()


class Of(StrEnum):
    """The things of the house that may have a fault, in the order of the report."""

    APPROVAL = "approval"  # that nobody may have given, or that is not what was approved
    CAMPAIGN = "campaign"  # a version that was in force, and that no second person agreed to
    OFFER = "offer"  # the same
    REWARD = "reward"  # the same
    JOURNEY = "journey"  # the same
    PROGRAMME = "programme"  # the same
    PARTNER = "partner"  # whose allowance does not agree with its transfers
    STATED = "subject"  # a card, a person or a partner that is not what the log has of it: `person:ann`
    LOG = "entry"  # that does not follow from the one before it, or is not there
    SEAL = "seal"  # that does not hold: the ledger or the seal was changed


_ORDER: Final = {of: f"{place}" for place, of in enumerate(Of)}


class HouseFault(NamedTuple):
    """A thing of the house with a fault; entries of the log and seals are named by their numbers."""

    of: Of
    name: str | int
    what: str

    def __str__(self) -> str:
        match self.of:
            case Of.STATED:
                named = str(self.name).replace(":", " ", 1)
            case Of.LOG:
                named = f"log #{self.name}"
            case _:
                named = f"{self.of} {self.name}"
        return f"{named}: {self.what}"

    @property
    def place(self) -> tuple[str, ...]:
        """Entries of the log and seals in their order; what is wrong with a seal by its words, because its slices are
        looked at side by side.
        """
        if self.of is Of.SEAL:
            return (_ORDER[self.of], f"{self.name:020}", self.what)
        return (_ORDER[self.of], f"{self.name:020}" if self.of is Of.LOG else str(self.name))

    @property
    def facts(self) -> dict[str, object]:
        return {self.of: self.name, "what": self.what}


AnyFault: TypeAlias = Fault | HouseFault


@dataclass(slots=True)
class Report:
    """The counts and faults of a part of the ledger, or of all of it."""

    accounts: int = 0
    transfers: int = 0
    seals: list[int] = field(default_factory=list)  # whose roots were computed again
    faults: list[AnyFault] = field(default_factory=list)
    more_faults: int = 0

    @property
    def clean(self) -> bool:
        return not self.faults

    def note(self, *faults: AnyFault) -> None:
        room = max(0, MOST_FAULTS - len(self.faults))
        self.faults += faults[:room]
        self.more_faults += len(faults[room:])

    def add(self, part: "Report") -> None:
        self.accounts += part.accounts
        self.transfers += part.transfers
        self.seals += part.seals
        self.note(*part.faults)
        self.more_faults += part.more_faults

    def faults_of(self, account: tuple[str, str], seq: int, whats: Iterable[str]) -> None:
        self.note(*(Fault(*account, seq, what) for what in whats))
