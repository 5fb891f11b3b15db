"""Reads a member's life, each part by itself."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from abacus.core.clock import Clock
from abacus.core.errors import SetAside, Unavailable
from abacus.engage.campaigns.progress_rows import progress_of
from abacus.engage.journeys.member_visits import visits_of
from abacus.engage.notify.notifications import messages_of
from abacus.engage.notify.withheld import Withheld, withheld_of
from abacus.engage.offers.taken_reader import TakenOffer, TakenReader
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.redemption_reader import RedemptionReader
from abacus.intake.partners.members import MemberReader
from abacus.ledger.store.holds import HoldReader
from abacus.ledger.store.read import WHOLE, LedgerReader, Narrowing
from abacus.ledger.types.movement import Hold
from abacus.ledger.types.positions import FROM_THE_NEWEST, text_of
from abacus.ledger.types.transfer import Transfer
from abacus.oversight.life.decide.tier_progress import TierProgress, earned_in, missing_to_keep, next_tier
from abacus.oversight.life.decide.told import Told, told
from abacus.oversight.life.member_life import Accounts, Away, MemberLife, RemainingPoints, Transfers
from abacus.oversight.redeemed.reader import RedeemedReader
from abacus.people.store.approvals import Approvals
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.programs.tiers.decide.policy import period_of
from abacus.programs.tiers.store import MembershipStore, Shown

MOST: Final = 20  # of lots, messages, campaigns and approvals
ON_PAGE: Final = 25  # transfers
_PARTS: Final = 12  # of a life, which all need the accounts

Value = TypeVar("Value")


@dataclass(frozen=True)
class Asked:
    """What is asked of a member: countries that are open to the person (None: all), and which transfers, from where."""

    member_id: str
    countries: Sequence[str] | None = None
    program: str | None = None
    narrowed: Narrowing = WHOLE
    below: Mapping[str, int] | None = None
    transfers: int = ON_PAGE


class LifeReader:
    """One for each process. `book` raises `Unavailable` while no cards can be read."""

    def __init__(self, pool: Pool, book: Callable[[], CardBook], clock: Clock) -> None:
        self._pool = pool
        self._book = book
        self._clock = clock
        self._members, self._ledger, self._holds = MemberReader(pool), LedgerReader(pool), HoldReader(pool)
        self._tiers, self._redeemed = MembershipStore(pool, clock), RedemptionReader(pool)
        self._taken = TakenReader(pool)
        self._named = RedeemedReader(pool)

    async def of(self, asked: Asked, approvals: Approvals) -> MemberLife:
        """A member without an account in these countries looks like nobody."""
        member_id = asked.member_id
        accounts = await _part(self._accounts(asked))
        if isinstance(accounts, Away):
            return MemberLife(member_id, *([accounts] * _PARTS))
        points, tiers, holds, withheld, journeys = await asyncio.gather(
            _part(self._points(member_id, accounts)),
            _part(self._progress(member_id, accounts)),
            _part(self._open_holds(member_id, accounts)),
            _part(self._withheld(member_id, accounts)),
            _part(visits_of(self._pool, member_id, asked.countries, most=MOST, now=self._clock.now())),
        )
        transfers, messages, campaigns, redeemed, offers, agreed = await asyncio.gather(
            _part(self._transfers(asked, accounts)),
            _part(messages_of(self._pool, member_id, MOST if accounts else 0)),
            _part(progress_of(self._pool, member_id, asked.countries, MOST)),
            _part(self._redemptions(asked)),
            _part(self._offers(asked)),
            _part(approvals.of_member(member_id, countries=asked.countries, limit=MOST)),
        )
        return MemberLife(
            member_id,
            accounts,
            points,
            tiers,
            holds,
            transfers,
            messages,
            withheld,
            campaigns,
            journeys,
            redeemed,
            offers,
            agreed,
        )

    async def told(self, member_id: str, transfers: Sequence[Transfer]) -> list[Told]:
        """Calculated again, where the cards can be read, and with the offers that were redeemed."""
        redeemed = await self._named.of(member_id, transfers)
        words = {key: [compared.told for compared in each.compared] for key, each in redeemed.items()}
        try:
            book = self._book()
        except Unavailable:
            book = None
        return [told(each, book, words.get(each.key, ())) for each in transfers]

    async def _accounts(self, asked: Asked) -> Accounts:
        holdings = await self._members.holdings(asked.member_id)
        return [
            each.at(self._clock.now())
            for each in holdings
            if asked.countries is None or each.account.country in asked.countries
        ]

    async def _points(self, member_id: str, accounts: Accounts) -> Sequence[RemainingPoints]:
        found: list[RemainingPoints] = []
        for account in accounts:
            lots = await self._ledger.lots(member_id, account.program, 0, MOST)
            given = await self._ledger.these(member_id, account.program, [each.seq for each in lots])
            found += [
                RemainingPoints(
                    each.program,
                    each.key,
                    each.kind,
                    each.points,
                    each.remaining,
                    each.expires_on,
                    told(given[each.seq], None).words,
                )
                for each in lots
            ]
        return found

    async def _open_holds(self, member_id: str, accounts: Accounts) -> Sequence[Hold]:
        programs = {each.program for each in accounts}
        found = await self._holds.open_holds(member_id) if programs else ()
        return [each for each in found if each.program in programs]

    async def _withheld(self, member_id: str, accounts: Accounts) -> Sequence[Withheld]:
        countries = {each.country for each in accounts if each.country is not None}
        return await withheld_of(self._pool, member_id, countries, MOST) if accounts else ()

    async def _redemptions(self, asked: Asked) -> Sequence[Redemption]:
        found = await self._redeemed.of_member(asked.member_id, MOST)
        return [each for each in found if asked.countries is None or each.country in asked.countries]

    async def _offers(self, asked: Asked) -> Sequence[TakenOffer]:
        found = await self._taken.of_member(asked.member_id, MOST)
        return [each for each in found if asked.countries is None or each.country in asked.countries]

    async def _transfers(self, asked: Asked, accounts: Accounts) -> Transfers:
        programs = [each.program for each in accounts if asked.program in {None, each.program}]
        below = {each: (asked.below or {}).get(each, FROM_THE_NEWEST) for each in programs}
        if not below:
            return Transfers((), None)
        found = await self._ledger.history(asked.member_id, below, asked.transfers + 1, asked.narrowed)
        rows = found[: asked.transfers]
        below |= {each.program: each.seq for each in rows}
        return Transfers(await self.told(asked.member_id, rows), text_of(below) if len(found) > len(rows) else None)

    async def _progress(self, member_id: str, accounts: Accounts) -> Sequence[TierProgress]:
        country_of = {each.program: each.country for each in accounts}
        found = await self._tiers.show(member_id) if accounts else ()
        here = [(each, country_of.get(each.known.account.program)) for each in found]
        return [self._tier(each, country) for each, country in here if country is not None]

    def _tier(self, shown: Shown, country: str) -> TierProgress:
        account, tier, now = shown.known.account, shown.known.tier, self._clock.now()
        try:
            card = self._book().in_force(country, now).card
        except (SetAside, Unavailable):
            card = None
        earned, ends_on, keeps, policy = 0, None, None, card.tier_policy if card is not None else None
        if card is not None and policy is not None:
            period = period_of(now, card.zone, policy.period_months)
            earned, ends_on = earned_in(shown.tallies, period), period.ends_on
            if shown.membership is None:
                keeps = missing_to_keep(policy, tier, account.until, earned, period)
        following, missing = next_tier(policy, tier, earned)
        return TierProgress(
            program=account.program,
            country=country,
            tier=tier,
            until=account.until,
            override=shown.membership.reason if shown.membership is not None else None,
            earned=earned,
            ends_on=ends_on,
            next=following,
            missing=missing,
            keeps=keeps,
        )


async def _part(loading: Awaitable[Value]) -> Value | Away:
    try:
        return await loading
    except Unavailable as error:
        return Away(error.dependency, error.detail)
