"""Posting awards to Postgres: a batch, or its part of a slice, is one transaction of a few set-based statements."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain

from abacus.core.clock import Clock
from abacus.core.sources import partner_of
from abacus.ledger.decide.allowance import NOBODY, partners_of
from abacus.ledger.decide.batch import accounts_touched, keys_of, plan
from abacus.ledger.store.budgets import Budgets, Whole
from abacus.ledger.store.claimed_keys import ClaimedKeys
from abacus.ledger.store.history import with_modes_changed
from abacus.ledger.store.newcomers import refused_newcomers
from abacus.ledger.store.partner_awards import register_missing
from abacus.ledger.store.partner_limits import lock_standing, write_rejections, write_use
from abacus.ledger.store.rows import in_a_transaction, lock_accounts, write
from abacus.ledger.store.slices import SliceRounds
from abacus.ledger.store.turns import begin_posting
from abacus.ledger.types.account import Account
from abacus.ledger.types.award_envelope import Award
from abacus.ledger.types.port import AwardOutcome, Claim, Status
from abacus.platform.postgres import Connection, Pool, passing_failures
from abacus.platform.slices import Slice


class PostgresLedger:
    """`LedgerPort` on Postgres."""

    def __init__(self, pool: Pool, clock: Clock, claimed: ClaimedKeys | None = None) -> None:
        self._pool = pool
        self._clock = clock
        self._claimed = claimed or ClaimedKeys()
        self._budgets = Budgets(pool, clock, lambda award: partner_of(award.source), _waits)
        self._rounds = SliceRounds(pool, _keys_of, self._post_in, _waits)

    async def post(self, awards: Sequence[Award]) -> list[AwardOutcome]:
        return await self._rounds.do(awards)

    async def _post_in(
        self, slice_: Slice, awards: Sequence[Award], elsewhere: Mapping[str, Claim]
    ) -> list[AwardOutcome]:
        partners = partners_of(awards)
        if partners and slice_.schema is not None:
            await self._register_missing(partners)

        async def work(together: Sequence[Award], whole: Whole) -> list[AwardOutcome]:
            post = partial(self._post, awards=together, elsewhere=elsewhere, whole=whole)
            return await in_a_transaction(slice_.together if whole else slice_.within, post)

        return await self._budgets.within(slice_, awards, work)

    async def _register_missing(self, partners: Mapping[str, Sequence[Award]]) -> None:
        """For a slice: these entries are not beside its accounts."""
        async with passing_failures(), self._pool.acquire() as connection:
            await register_missing(connection, partners, self._clock.now())

    async def _post(
        self, connection: Connection, awards: Sequence[Award], elsewhere: Mapping[str, Claim], whole: Whole
    ) -> list[AwardOutcome]:
        partners = partners_of(awards)
        # Under their lock and before any other look: a key that another batch has claimed by now must not be rejected.
        standing = await lock_standing(connection, partners, whole, self._clock.now()) if partners else NOBODY
        turn = await begin_posting(connection)
        earlier = await self._claimed.among(connection, turn, keys_of(awards, chain.from_iterable(partners.values())))
        earlier |= elsewhere
        touched = accounts_touched(awards, earlier)
        locked = await lock_accounts(connection, turn, list(touched))
        accounts = locked.accounts
        refused = await refused_newcomers(connection, touched, accounts)
        for id_, country in touched.items():
            if id_ not in accounts:
                accounts[id_] = Account.opened(id_, country)
        by_lots = any(award.lifetime for award in awards) or any(account.lifetime for account in accounts.values())
        if by_lots:
            await with_modes_changed(connection, accounts, [award for award in awards if award.key not in earlier])
        is_pending = any(award.vests_on is not None for award in awards)
        now = self._clock.now()
        decided = plan(awards, earlier, accounts, now, standing, refused=refused)
        decided.spending.in_hand()
        await write(
            connection, locked, decided.accounts, decided.claims, decided.transfers, whole=by_lots or is_pending
        )
        if partners:
            await write_use(connection, standing, decided.spending)
            await write_rejections(connection, decided.rejections)
        if partners and connection.slice_schema is None:
            await register_missing(connection, partners, now)
        return decided.outcomes


def _waits(award: Award) -> AwardOutcome:
    return AwardOutcome(award, Status.WAITS)


def _keys_of(award: Award) -> Iterable[str]:
    return (award.key,) if award.transaction is None else (award.key, award.transaction.key)
