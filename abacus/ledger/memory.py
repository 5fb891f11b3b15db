"""A ledger in memory, with the same decisions as Postgres: for simulations and what-if runs."""

from collections.abc import Sequence

from abacus.core.clock import Clock
from abacus.ledger.allowance import Allowance, MemberDay, Rejection, Standing
from abacus.ledger.award import Award
from abacus.ledger.batch import Claim, Outcome, accounts_touched, plan
from abacus.ledger.transfer import Account, AccountId, Transfer


class MemoryLedger:
    """`LedgerPort` over dictionaries. Posting is atomic because it has no await inside."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.claims: dict[str, Claim] = {}
        self.accounts: dict[AccountId, Account] = {}
        self.transfers: list[Transfer] = []
        self.allowances: dict[str, Allowance] = {}
        self.member_days: dict[MemberDay, int] = {}
        self.rejections: dict[str, Rejection] = {}

    async def post(self, awards: Sequence[Award]) -> list[Outcome]:
        touched = accounts_touched(awards, self.claims)
        held = {id_: self.accounts.get(id_) or Account.opened(id_, country) for id_, country in touched.items()}
        standing = Standing(self.allowances, self.member_days, self.rejections)
        decided = plan(awards, self.claims, held, self._clock.now(), standing)
        self.claims.update({claim.key: claim for claim in decided.claims})
        self.accounts.update(decided.accounts)
        self.transfers.extend(decided.transfers)
        self.rejections.update({rejection.key: rejection for rejection in decided.rejections})
        self.allowances.update(decided.spending.allowances)
        self.member_days.update(decided.spending.member_days)
        return decided.outcomes
