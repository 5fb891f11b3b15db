"""A ledger in memory, with the same decisions as Postgres: for simulations and what-if runs."""

from collections.abc import Iterable, Sequence
from datetime import date
from uuid import UUID

from abacus.core.clock import Clock
from abacus.core.members import strange_among
from abacus.ledger.decide.account_with_lots import AccountWithLots, Change
from abacus.ledger.decide.allowance import Allowance, LimitUse
from abacus.ledger.decide.alone import MovedAlone
from abacus.ledger.decide.batch import accounts_touched, plan
from abacus.ledger.decide.lots import Draw, Lot, changed_modes, first_day, open_lots, with_used_closed
from abacus.ledger.decide.movement import Books, account_of, plan_moves, rounds
from abacus.ledger.decide.reversal import Original
from abacus.ledger.types.account import Account, AccountId
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.kinds import TransferKind
from abacus.ledger.types.limits import MemberDay, Rejection, Total
from abacus.ledger.types.movement import Hold, Moved, Movement, Reversal
from abacus.ledger.types.port import AwardOutcome, Claim
from abacus.ledger.types.transfer import Transfer


class MemoryLedger:
    """`LedgerPort` and `MovesPort` over dictionaries. Each call is atomic because there is no await inside."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.claims: dict[str, Claim] = {}
        self.accounts: dict[AccountId, Account] = {}
        self.transfers: list[Transfer] = []
        self.draws: list[Draw] = []
        self.holds: dict[UUID, Hold] = {}
        self.allowances: dict[str, Allowance] = {}
        self.member_days: dict[MemberDay, int] = {}
        self.rejections: dict[str, Rejection] = {}
        self.moved_alone: list[Total] = []

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        touched = accounts_touched(awards, self.claims)
        held = {id_: self.accounts.get(id_) or Account.opened(id_, country) for id_, country in touched.items()}
        for id_, lifetime in changed_modes([each for each in awards if each.key not in self.claims], held).items():
            lots = open_lots(held[id_], self.lots(held[id_])) if lifetime else []
            held[id_] = held[id_]._replace(lifetime=lifetime, expires_on=first_day(lots))
        standing = LimitUse(self.allowances, self.member_days, self.rejections)
        decided = plan(awards, self.claims, held, self._clock.now(), standing, refused=self._refused(held))
        self.claims.update({claim.key: claim for claim in decided.claims})
        self.accounts.update(decided.accounts)
        self.transfers.extend(decided.transfers)
        self.rejections.update({rejection.key: rejection for rejection in decided.rejections})
        self.allowances.update(decided.spending.allowances)
        self.member_days.update(decided.spending.member_days)
        return decided.outcomes

    async def move(self, movements: Sequence[Movement]) -> list[Moved]:
        outcomes: dict[int, Moved] = {}
        for places in rounds(movements):
            outcomes.update(zip(places, self._move([movements[place] for place in places]), strict=True))
        return [outcomes[place] for place in range(len(movements))]

    def _move(self, movements: Sequence[Movement]) -> list[Moved]:
        new = [each for each in movements if each.key not in self.claims]
        accounts = {
            account_of(each): self.accounts.get(account_of(each)) or Account.opened(account_of(each), each.country)
            for each in new
        }
        for each in new:
            if isinstance(each, Reversal):
                account = accounts[account_of(each)]
                accounts[account.id] = with_used_closed(account, self.lots(account))
        originals = {
            each.reverses: original
            for each in new
            if isinstance(each, Reversal) and (original := self._original(accounts[account_of(each)], each))
        }
        by_lots = {id_: self.with_lots(account) for id_, account in accounts.items()}
        books = Books(by_lots, dict(self.holds), originals, self._refused(accounts))
        standing = LimitUse(self.allowances, self.member_days, self.rejections)
        now = self._clock.now()
        decided = plan_moves(
            movements, self.claims, books, now, standing, moved_alone=MovedAlone(self.moved_alone, now)
        )
        self.claims.update({claim.key: claim for claim in decided.claims})
        self.accounts.update(decided.accounts)
        self.transfers.extend(decided.transfers)
        self.draws.extend(decided.draws)
        self.moved_alone += decided.alone.added
        self.holds.update({hold.hold_id: hold for hold in decided.holds})
        self.allowances.update(decided.spending.allowances)
        self.member_days.update(decided.spending.member_days)
        return decided.outcomes

    def _refused(self, touched: Iterable[AccountId]) -> frozenset[str]:
        known = {member_id for member_id, _ in self.accounts}
        return frozenset(strange_among(member_id for member_id, _ in touched)) - known

    def keep(self, claim: Claim, change: Change) -> None:
        """Write a change that was decided elsewhere: a lapse."""
        self.claims[claim.key] = claim
        self.accounts[change.after.account.id] = change.after.account
        self.transfers.append(change.transfer)
        self.draws.extend(change.draws)

    def with_lots(self, account: Account) -> AccountWithLots:
        lots = open_lots(account, self.lots(account)) if account.lifetime else []
        return AccountWithLots(account, tuple(lots))

    def lots(self, account: Account) -> list[Lot]:
        """The account's lots behind its cursor."""
        return [
            self._lot(transfer)
            for transfer in self.transfers
            if transfer[:2] == account.id and transfer.points > 0 and transfer.seq > account.lots_closed
        ]

    def _lot(self, transfer: Transfer) -> Lot:
        drawn = sum(draw.points for draw in self.draws if draw[:3] == transfer[:3])
        return Lot(transfer.seq, transfer.key, transfer.points, drawn, transfer.occurred_at, transfer.expires_on)

    def _original(self, account: Account, reversal: Reversal) -> Original | None:
        claim = self.claims.get(reversal.reverses)
        if claim is None or (claim.member_id, claim.program) != account.id:
            return None
        history = [transfer for transfer in self.transfers if transfer[:2] == account.id]
        transfer = history[claim.seq - 1]
        left, lapsed = followed(history, self.draws, transfer.seq)
        good_until = None
        if account.lifetime and transfer.points < 0:
            good_until = good_when_taken(history, self.draws, transfer)
        reversals = [each for each in history if each.reverses == transfer.key]
        return Original(transfer, left, lapsed, reversals, good_until)


def good_when_taken(history: Sequence[Transfer], draws: Sequence[Draw], taker: Transfer) -> date | None:
    """The last day on which points that a transfer took were good: the last one of their lots."""
    before = [each for each in history if each.seq < taker.seq]
    upto = [*before, taker]
    taken_of = [
        each
        for each in before
        if each.points > 0 and followed(before, draws, each.seq)[0] > followed(upto, draws, each.seq)[0]
    ]
    return max((each.expires_on for each in taken_of if each.expires_on), default=None)


def followed(history: Sequence[Transfer], draws: Sequence[Draw], lot_seq: int) -> tuple[int, int]:
    """The points left of a lot, and how many of it lapsed, by following every point from the first transfer on."""
    left: dict[int, int] = {}
    lapsed = owed = 0
    for transfer in history:
        if transfer.points > 0:
            paid = min(owed, transfer.points)
            owed -= paid
            left[transfer.seq] = transfer.points - paid
            continue
        taken = {draw.lot_seq: draw.points for draw in draws if (draw[:2], draw.seq) == (transfer[:2], transfer.seq)}
        points = -transfer.points - sum(taken.values())
        for seq, there in left.items():
            oldest_first = min(points, there - taken.get(seq, 0))
            points -= oldest_first
            taken[seq] = taken.get(seq, 0) + oldest_first
        owed += points
        for seq, gone in taken.items():
            left[seq] -= gone
            lapsed += gone if seq == lot_seq and transfer.kind == TransferKind.EXPIRE else 0
    return left.get(lot_seq, 0), lapsed
