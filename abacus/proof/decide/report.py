"""The result of verifying: each fault with the row that has it. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

# The order of faults: accounts first, because a fault of a row tells more, and seals last.
_ACCOUNT, _APPROVAL, _CAMPAIGN, _PARTNER, _STATED, _LOG, _SEAL = "abcdefg"

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
        return (_ACCOUNT, self.member_id, self.program)


class PartnerFault(NamedTuple):
    """A partner whose allowance does not agree with its transfers."""

    partner: str
    what: str

    def __str__(self) -> str:
        return f"partner {self.partner}: {self.what}"

    @property
    def place(self) -> tuple[str, ...]:
        return (_PARTNER, self.partner)


class ApprovalFault(NamedTuple):
    """An approval that nobody may have given, or that is not what was approved."""

    approval: str
    what: str

    def __str__(self) -> str:
        return f"approval {self.approval}: {self.what}"

    @property
    def place(self) -> tuple[str, ...]:
        return (_APPROVAL, self.approval)


class CampaignFault(NamedTuple):
    """A version of a campaign that was in force, and that no second person agreed to."""

    campaign: str
    what: str

    def __str__(self) -> str:
        return f"campaign {self.campaign}: {self.what}"

    @property
    def place(self) -> tuple[str, ...]:
        return (_CAMPAIGN, self.campaign)


class LogFault(NamedTuple):
    """An entry of the log that does not follow from the one before it, or is not there."""

    entry: int
    what: str

    def __str__(self) -> str:
        return f"log #{self.entry}: {self.what}"

    @property
    def place(self) -> tuple[str, ...]:
        return (_LOG, f"{self.entry:020}")


class StatedFault(NamedTuple):
    """A card, a person or a partner that is not what the log has of it: `person:ann`."""

    subject: str
    what: str

    def __str__(self) -> str:
        return f"{self.subject.replace(':', ' ', 1)}: {self.what}"

    @property
    def place(self) -> tuple[str, ...]:
        return (_STATED, self.subject)


class SealFault(NamedTuple):
    """A seal that does not hold: the ledger or the seal was changed."""

    seal: int
    what: str

    def __str__(self) -> str:
        return f"seal {self.seal}: {self.what}"

    @property
    def place(self) -> tuple[str, ...]:
        return (_SEAL,)


AnyFault: TypeAlias = Fault | PartnerFault | ApprovalFault | CampaignFault | StatedFault | LogFault | SealFault


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
