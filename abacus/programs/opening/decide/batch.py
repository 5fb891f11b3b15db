"""Which opening balances are new, posted already, or contradict the posted one; and the rows to write. Pure."""

from collections.abc import Container, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from abacus.core.errors import SetAside
from abacus.core.members import fault_of_new_member
from abacus.ledger.decide.duplicates import Gate
from abacus.ledger.decide.newcomers import NOBODY_REFUSED
from abacus.ledger.decide.opening_balance import OpeningBalance, Origin, facts_of, open_with
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.port import Claim
from abacus.ledger.types.transfer import Transfer
from abacus.programs.opening.decide.line import Fault


class Staged(NamedTuple):
    """An opening balance, its line, and the key under which it is posted."""

    line: int
    key: str
    opening: OpeningBalance

    @property
    def account(self) -> AccountId:
        return self.opening.member_id, self.opening.program


class Taken(NamedTuple):
    """The facts that took a key, and their line; without a line, an earlier import took it."""

    fingerprint: str
    line: int | None


class Sorted(NamedTuple):
    """A page of lines: the new ones with their fingerprints, how many are posted already, and the faults."""

    new: list[tuple[Staged, str]]
    already: int
    faults: list[Fault]


class Openings(NamedTuple):
    """The rows to write for new lines, sorted, and a fault for each line that no account can take."""

    accounts: dict[AccountId, Account]
    claims: list[Claim]
    transfers: list[Transfer]
    faults: list[Fault]


def sort_out(
    page: Iterable[Staged],
    taken: Mapping[str, Taken],
    origin: Origin,
    *,
    refused: Container[str] = NOBODY_REFUSED,
) -> Sorted:
    """All lines about an account are on one page; a repeated line counts once. `refused` are members without an account
    whose ids no new member may have.
    """
    gate = Gate(taken)
    new: list[tuple[Staged, str]] = []
    already = 0
    faults: list[Fault] = []
    for staged in page:
        facts = facts_of(staged.opening)
        earlier = gate.earlier(staged.key, facts)
        if earlier is None and staged.opening.member_id in refused:
            faults.append(Fault(staged.line, "member_id", str(fault_of_new_member(staged.opening.member_id))))
        elif earlier is None:
            gate.enter(staged.key, Taken(facts, staged.line))
            new.append((staged, facts))
        elif earlier.same_facts:
            already += 1
        else:
            faults.append(_contradiction(staged, earlier.first, origin))
    return Sorted(new, already, faults)


def open_all(
    new: Iterable[tuple[Staged, str]], accounts: Mapping[AccountId, Account], origin: Origin, now: datetime
) -> Openings:
    """`accounts` holds the accounts that exist, locked; the others are opened."""
    after: dict[AccountId, Account] = {}
    claims: list[Claim] = []
    transfers: list[Transfer] = []
    faults: list[Fault] = []
    for staged, facts in new:
        id_ = staged.account
        before = accounts.get(id_) or Account.opened(id_, staged.opening.country)
        try:
            after[id_], transfer = open_with(before, staged.opening, origin, now)
        except SetAside as fault:
            faults.append(Fault(staged.line, "balance", fault.detail))
            continue
        claims.append(Claim(staged.key, *id_, transfer.seq, facts))
        transfers.append(transfer)
    return Openings(after, sorted(claims), transfers, faults)


def _contradiction(staged: Staged, earlier: Taken, origin: Origin) -> Fault:
    if earlier.line is not None:
        return Fault(staged.line, "member_id", f"line {earlier.line} has this member and program with other facts")
    member_id, program = staged.account
    problem = f"{member_id!r} was imported into {program} from {origin.source} before, with other facts"
    return Fault(staged.line, "member_id", problem)
