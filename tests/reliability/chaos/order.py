"""Whether a stream tells every account in order and without a gap. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Account = tuple[str, str]  # member and program


@dataclass
class Telling:
    """The events of each account so far. An event may come again, but a new one only after the one before it."""

    last: dict[Account, int] = field(default_factory=dict)
    again: int = 0
    faults: list[str] = field(default_factory=list)

    def tell(self, account: Account, seq: int) -> None:
        last = self.last.get(account, 0)
        if seq <= last:
            self.again += 1
            return
        if seq != last + 1:
            self.faults.append(f"{account[0]}, {account[1]}: {seq} is told after {last}")
        self.last[account] = seq

    def against(self, ledger: Mapping[Account, int]) -> list[str]:
        """The faults, and the accounts whose events differ from the ledger."""
        ends = {account: (self.last.get(account, 0), ledger.get(account, 0)) for account in self.last.keys() | ledger}
        differ = [
            f"{member}, {program}: told up to {told} of {posted}"
            for (member, program), (told, posted) in sorted(ends.items())
            if told != posted
        ]
        return self.faults + differ
