"""Rewards for tests: documents, what is published around them, and a place where they are redeemed."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from abacus.cli.examples import example_cards
from abacus.core.clock import Clock, SystemClock
from abacus.core.errors import Unavailable
from abacus.core.sources import Agent, partner_source
from abacus.documents.stated import Change
from abacus.engage.asking.facts import asking_facts
from abacus.engage.asking.types import Standing
from abacus.engage.downstreams.facts import AskService
from abacus.engage.limits.types import Limits
from abacus.engage.offers.decide.invited import OfferHead
from abacus.engage.offers.facts import Countable
from abacus.engage.rewards.admission import Admission
from abacus.engage.rewards.decide.draft import Ask
from abacus.engage.rewards.decide.price import Lock, Locked
from abacus.engage.rewards.decide.publications import RewardPublications
from abacus.engage.rewards.decide.redemption import Redemption
from abacus.engage.rewards.decide.reward import Reward
from abacus.engage.rewards.decide.reward_reader import parse_reward
from abacus.engage.rewards.deliveries import Deliveries
from abacus.engage.rewards.offered import Offered
from abacus.engage.rewards.pools import CodeLoader
from abacus.engage.rewards.preview import RewardPreview
from abacus.engage.rewards.publications import reward_publications
from abacus.engage.rewards.redeemer import Redeemer
from abacus.engage.rewards.redemption_desk import RedemptionDesk
from abacus.engage.rewards.redemption_rows import RedemptionRows
from abacus.engage.rewards.reward_store import RewardStore
from abacus.ledger.store.moves import PostgresMoves
from abacus.ledger.store.post import PostgresLedger
from abacus.ledger.store.read import LedgerReader
from abacus.ledger.types.movement import MovesPort
from abacus.platform.encryption import Secrets, new_keyring_text
from abacus.platform.postgres import Pool
from abacus.pricing.decide.book import CardBook
from abacus.pricing.decide.card import PublishedCard
from abacus.signals.counters.decide.definition_document import parse_definition
from abacus.signals.counters.reading.types import Counted, Lookup
from abacus.signals.events.decide.source import parse_source
from abacus.signals.events.types import Event, Value, VariableType
from abacus.signals.facts.counters import CounterFacts
from abacus.signals.facts.types import NotNow
from abacus.signals.segments.sets import Pair
from tests.support.awards import award
from tests.support.counters import RAIN, WEATHER

NOW: Final = datetime.now(UTC).replace(microsecond=0)
DAY: Final = timedelta(days=1)
CARDS: Final = {card.scope: PublishedCard(card, 1) for card in example_cards()}
COFFEE: Final[Mapping[str, Any]] = {
    "name": "coffee",
    "country": "SG",
    "timezone": "Asia/Singapore",
    "starts_at": (NOW - 30 * DAY).isoformat(),
    "ends_at": (NOW + 30 * DAY).isoformat(),
    "texts": {"en": {"title": "A coffee"}},
    "price": {"points": 500},
    "delivery": {"pool": "coffee_codes"},
    "limits": {"unlimited": True},
}
SHOP: Final = Agent("shop", partner_source("shop"))
SECRETS: Final = Secrets.of(new_keyring_text("one"))

_WEATHER: Final = {"weather": parse_source({**WEATHER, "fields": {**WEATHER["fields"], "member": "/member"}})}
VISITS: Final = parse_definition({**RAIN, "name": "visits", "template": "visits:{member_id}"}, _WEATHER)
BY_CITY: Final = parse_definition({**RAIN, "name": "by_city"}, _WEATHER)


async def nobody_answers(name: str, _: Sequence[Event]) -> Sequence[Value | NotNow | None]:
    raise Unavailable(name, "it does not answer")


def around(now: datetime = NOW) -> RewardPublications:
    return RewardPublications(
        now=now,
        cards=CARDS,
        segments={"regulars"},
        webhooks={"vouchers"},
        partners={"voucher_house"},
        pools={"coffee_codes": 10, "dry_codes": 0},
        counters={each.name: each for each in (VISITS, BY_CITY)},
        externals={"lucky": VariableType.BOOLEAN},
        offers={
            "lunch_invited": OfferHead("SG", "invitation"),
            "lunch_20": OfferHead("SG", "public"),
            "makan_siang": OfferHead("ID", "invitation"),
        },
        programs={"GRP", "OVO"},
    )


def reward(**changed: Any) -> Reward:
    """A reward that is in force."""
    return parse_reward({**COFFEE, **changed}, around()).numbered(1)


class Counter:
    """A place where rewards are redeemed: a desk on a real ledger, with the rewards that are given."""

    def __init__(
        self,
        pool: Pool,
        rewards: Sequence[Reward],
        *,
        moves: MovesPort | None = None,
        regulars: Sequence[str] = (),
        visits: int = 0,
        services: AskService = nobody_answers,
        published: RewardPublications | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Every member has made so many visits. Rules are read by what is `published`."""
        self.clock = clock or SystemClock()
        self.pool = pool
        self._rewards = {each.name: Offered(each, published or around()) for each in rewards}
        self._book = CardBook(list(CARDS.values()))

        async def segments(pairs: Collection[Pair]) -> Mapping[Pair, bool]:
            return {pair: pair == ("regulars", pair[1]) and pair[1] in regulars for pair in pairs}

        async def counts(lookups: Sequence[Lookup]) -> Sequence[Counted]:
            return [Counted(each.begin, each.end, visits, 0) for each in lookups]

        moving = moves or PostgresMoves(pool, self.clock)
        self.deliveries = Deliveries(pool, moving, self.book, self.clock)
        self.redeemer = Redeemer(
            RedemptionRows(pool), moving, self._limits_of, self.book, self.clock, deliveries=self.deliveries
        )
        facts = asking_facts(
            segments=segments,
            counters=CounterFacts(
                pool, lambda: Countable({VISITS.name: VISITS}), counts, events_topic="abacus.events.v1"
            ),
            services=services,
        )
        self.preview = RewardPreview(pool, self.book, admission=Admission(segments, facts), deliveries=self.deliveries)
        self.desk = RedemptionDesk(
            pool,
            self.clock,
            self.redeemer,
            self.deliveries,
            offered=lambda: self._rewards,
            book=self.book,
            segments=segments,
            facts=facts,
            secrets=SECRETS,
        )

    def book(self) -> CardBook:
        return self._book

    def _limits_of(self, each: Redemption) -> Limits:
        found = self._rewards.get(each.reward)
        if found is None:
            raise Locked(Lock.CLOSED, f"{each.reward} is over")
        return found.reward.limits

    async def redeem(
        self, key: str, member: str = "bob", *, name: str = "coffee", quantity: int = 1, points: int | None = None
    ) -> Redemption:
        asked = Ask(f"api:shop:{key}", member, name, quantity, points, SHOP)
        return await self.desk.redeem(asked, await self.standings(member))

    async def standings(self, member: str) -> Mapping[str, Standing]:
        accounts = await LedgerReader(self.pool).accounts(member)
        return {each.program: Standing(each.country, "member", each.balance, each.available) for each in accounts}

    async def points(self, member: str = "bob") -> tuple[int, int]:
        """The balance, and how much of it is held."""
        (account,) = await LedgerReader(self.pool).accounts(member)
        return account.balance, account.held


async def give_points(pool: Pool, members: Sequence[str], points: int, expires_on: date | None = None) -> None:
    until = expires_on or (NOW + 90 * DAY).date()
    ledger = PostgresLedger(pool, SystemClock())
    awards = [
        award(key=f"txn:tests:{member}:{points}", member_id=member, points=points, expires_on=until)
        for member in members
    ]
    for first in range(0, len(awards), 500):
        await ledger.post(awards[first : first + 500])


async def load_codes(
    pool: Pool, codes: Iterable[str], name: str = "coffee_codes", *, secrets: Secrets = SECRETS
) -> None:
    await CodeLoader(pool, secrets).load(name, iter(codes), NOW)


async def run_reward(pool: Pool, **fields: Any) -> None:
    """A reward that is in force."""
    now = SystemClock().now()
    around_, store = await reward_publications(pool, now), RewardStore(pool)
    (draft,) = await store.draft([parse_reward({**COFFEE, **fields}, around_)], around_, Change("person:ann", now))
    await store.submit(draft.name, around_, Change("person:ann", now))
    approved = Change("person:ann", now - timedelta(minutes=1), approved_by="person:eve")
    await store.approve(draft.name, draft.version, around_, approved)
