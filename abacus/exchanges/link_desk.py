"""The one door to links: asked for, verified, used and ended here, with the log of what people do."""

import secrets as randomness
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple, Protocol
from uuid import UUID, uuid4

from abacus.core.clock import Clock
from abacus.core.errors import Unavailable
from abacus.core.recent import Recent
from abacus.core.sources import Agent, is_login, is_person
from abacus.engage.notify.decide.news import ExchangeCode
from abacus.engage.notify.decide.notice import Notice
from abacus.exchanges.decide.link import (
    CODE_DIGITS,
    CODE_FOR,
    REFUSALS,
    Attempts,
    Link,
    LinkFault,
    LinkRefused,
    LinkState,
    LinkWay,
    check_attempts,
    check_usable,
    code_digest,
    number_digest,
)
from abacus.exchanges.decide.programme import ByFile, Programme, SignIn
from abacus.exchanges.decide.programmes import Programmes
from abacus.exchanges.decide.sign_in import Returned, authorize_url, check_may_sign_in, is_issued_by
from abacus.exchanges.link_store import Asked, Begun, Ending, LinkStore, Verified
from abacus.exchanges.types import Account, AccountPort, NoAccount, NotAsked, SignInPort
from abacus.people.store.audit import entry_of, noted
from abacus.people.types.deed import Deed
from abacus.platform.postgres import Also, nothing_else

_MOST_SHOWN: Final = 100
_MOST_KEPT: Final = 10_000  # accounts, which never change while they are there
_UNLINKED: Final = "unlinked"
_ATTEMPTS: Final = Attempts()
_AT_ONCE: Final = timedelta(0)  # a code waits for no other news
_RANDOM_BYTES: Final = 32  # of a state, and of a verifier, which then has 43 letters


class _Of(Protocol):
    """A link, or what is asked of a link."""

    @property
    def programme(self) -> str: ...
    @property
    def member_id(self) -> str: ...


class Tell(Protocol):
    """Enters notices for members."""

    async def enter(self, notices: Sequence[Notice], *, gathered_for: timedelta) -> object: ...


class Wanted(NamedTuple):
    """The account that a member asks to link. With `sends_code` the member is told a code that verifies it."""

    programme: str
    account: Account
    sends_code: bool = False


class WantedSignIn(NamedTuple):
    """The account that a member shows by signing in at the partner, which sends it back to this address."""

    programme: str
    redirect_uri: str


class BegunSignIn(NamedTuple):
    """A link that waits for a sign-in, and where the member is sent."""

    link: Link
    authorize_url: str


def _nobody_signs_in(programme: Programme, _: SignIn) -> SignInPort:
    raise TypeError(f"nobody signs in at the partner of {programme.name} here")


def drawn_code() -> str:
    return "".join(randomness.choice("0123456789") for _ in range(CODE_DIGITS))


class LinkDesk:
    """Every method raises `LinkRefused` for what cannot be done, and `Unavailable` while the database is away or the
    house has no key for its secrets.
    """

    def __init__(
        self,
        store: LinkStore,
        clock: Clock,
        programmes: Callable[[], Programmes],
        port_of: Callable[[Programme], AccountPort],
        notices: Tell,
        *,
        sign_in_of: Callable[[Programme, SignIn], SignInPort] = _nobody_signs_in,
        attempts: Attempts = _ATTEMPTS,
        new_code: Callable[[], str] = drawn_code,
    ) -> None:
        self._store = store
        self._clock = clock
        self._programmes = programmes
        self._port_of = port_of
        self._notices = notices
        self._sign_in_of = sign_in_of
        self._attempts = attempts
        self._new_code = new_code
        self._countries: dict[str, str] = {}  # a programme never changes it
        self._accounts = Recent[UUID, Account](_MOST_KEPT)

    def programme(self, name: str) -> Programme:
        """In force and begun, or else paused, over, or not there at all. Raises `LinkRefused`."""
        found = self._programmes().by_name.get(name)
        if found is None or not found.programme.starts_at <= self._clock.now() < found.programme.ends_at:
            raise LinkRefused(LinkFault.NO_PROGRAMME, f"no programme {name} is there now")
        return found.programme

    async def ask(self, member_id: str, wanted: Wanted, by: Agent) -> Link:
        """The link, which waits to be verified. The same number again is the same link while it is verified, and else
        a new one, with a new code.
        """
        programme, now, key = self.programme(wanted.programme), self._clock.now(), await self._store.key()
        digest = number_digest(key, programme.name, wanted.account.number)
        await self._count([_owner(member_id), f"number:{digest.hex()}"], now)
        code, link_id = self._new_code() if wanted.sends_code else None, uuid4()
        asked = Asked(
            link_id=link_id,
            programme=programme.name,
            partner=programme.partner,
            member_id=member_id,
            digest=digest,
            code_digest=None if code is None else code_digest(key, link_id, code),
            code_until=None if code is None else now + CODE_FOR,
        )
        also = self._did("link", asked, by, programme.country)
        link = await self._store.ask(asked, wanted.account, by.source, now, also)
        if code is not None and link.link_id == link_id:
            await self._tell(link, code, programme)
        return link

    async def begin(self, member_id: str, wanted: WantedSignIn, by: Agent) -> BegunSignIn:
        """The link waits for what the partner sends back, ten minutes and once. It takes the place of what was not
        verified.
        """
        programme, now, key = self.programme(wanted.programme), self._clock.now(), await self._store.key()
        sign_in = check_may_sign_in(programme.sign_in, programme.name, wanted.redirect_uri)
        await self._sign_in_of(programme, sign_in).check()
        await self._count([_owner(member_id)], now)
        state, verifier, link_id = _random(), _random(), uuid4()
        asked = Asked(
            link_id=link_id,
            programme=programme.name,
            partner=programme.partner,
            member_id=member_id,
            digest=None,
            code_digest=code_digest(key, link_id, state),
            code_until=now + CODE_FOR,
            begun=Begun(verifier, wanted.redirect_uri),
        )
        link = await self._store.ask(asked, None, by.source, now, self._did("link", asked, by, programme.country))
        return BegunSignIn(link, authorize_url(sign_in, wanted.redirect_uri, state, verifier))

    async def finish(self, link: Link, returned: Returned, by: Agent) -> Link:
        """By what the partner sent back. Where it was not asked about that, the same may be tried again, and no attempt
        is spent.
        """
        if _is_done(link):
            return link
        programme, now, key = self.programme(link.programme), self._clock.now(), await self._store.key()
        sign_in = programme.sign_in
        if sign_in is None:
            raise LinkRefused(LinkFault.NO_SIGN_IN, f"members do not sign in at the partner of {programme.name}")
        port, given = self._sign_in_of(programme, sign_in), code_digest(key, link.link_id, returned.state)
        owners = [_owner(link.member_id)]
        day = await self._count(owners, now)
        fits = is_issued_by(sign_in, returned.issuer)
        taken = await self._store.take_sign_in(link.link_id, given if fits else None, now)
        try:
            account = await port.account(returned.code, *taken.begun)
        except NotAsked:
            await self._store.give_back(link.link_id, taken, owners, day)
            raise
        except Unavailable as fault:
            detail = f"{fault.detail}; the code may be used, so begin again: ask for another link"
            raise Unavailable(fault.dependency, detail) from None
        if isinstance(account, NoAccount):
            return await self._refuse(link, account.value, by, programme)
        verified = self._verified(programme, LinkWay.OAUTH)
        also = self._did("verify-link", link, by, programme.country)
        digest = number_digest(key, programme.name, account.number)
        return await self._store.verify_told(link, account, digest, verified, also)

    async def verify(self, link: Link, code: str | None, by: Agent) -> Link:
        """By a code, or without one by what the partner says."""
        if _is_done(link):
            return link
        programme, now = self.programme(link.programme), self._clock.now()
        await self._count([_owner(link.member_id)], now)
        also = self._did("verify-link", link, by, programme.country)
        if code is not None:
            given = code_digest(await self._store.key(), link.link_id, code)
            verified = self._verified(programme, LinkWay.CODE)
            return await self._store.try_code(link.link_id, given, verified, now, also)
        if link.way is LinkWay.OAUTH:
            raise LinkRefused(LinkFault.WRONG_SIGN_IN, "this link waits for what the partner sends back")
        if isinstance(programme.carrier, ByFile):
            raise LinkRefused(LinkFault.NOT_ASKABLE, f"the partner of {programme.name} cannot be asked; send a code")
        said = await self._port_of(programme).verify(await self.account_of(link.link_id))
        if (refusal := REFUSALS.get(said)) is not None:
            return await self._refuse(link, refusal.reason, by, programme)
        return await self._store.verify(link.link_id, self._verified(programme, LinkWay.PARTNER), also)

    async def unlink(self, link: Link, by: Agent, reason: str = _UNLINKED) -> Link:
        """The link as it is then. Exchanges that are open go on."""
        country = (await self.countries([link])).get(link.programme)
        also = self._did("unlink", link, by, country, reason)
        ending = Ending(LinkState.ENDED, by.source, reason)
        return await self._store.end(link.link_id, ending, self._clock.now(), also)

    async def of_id(self, link_id: UUID) -> Link | None:
        return await self._store.find(link_id)

    async def one(self, member_id: str, link_id: UUID) -> Link | None:
        found = await self.of_id(link_id)
        return found if found is not None and found.member_id == member_id else None

    async def of_member(self, member_id: str) -> Sequence[Link]:
        """The newest first, ended ones too."""
        return await self._store.of_member(member_id, _MOST_SHOWN)

    async def countries(self, links: Collection[_Of]) -> Mapping[str, str]:
        """The country of each programme of these links."""
        if missing := {each.programme for each in links} - self._countries.keys():
            self._countries |= await self._store.countries(missing)
        return self._countries

    async def usable(self, member_id: str, programme: str) -> Link:
        """The member's link, if it may be used now."""
        return check_usable(await self._store.at(member_id, programme), programme, self._clock.now())

    async def of_number(self, programme: str, number: str) -> Link | None:
        """The verified link of a partner's number, or of the id of a link in its place; whether it may be used,
        `check_usable` tells.
        """
        return await self._store.of_number(programme, number)

    async def digest_of(self, place: str, number: str) -> bytes:
        """Keyed: it tells numbers apart, and nobody finds one by it."""
        return number_digest(await self._store.key(), place, number)

    async def account_of(self, link_id: UUID) -> Account:
        """The account of a link, ended or not."""
        found = (await self.accounts_of([link_id])).get(link_id)
        if found is None:
            raise LinkRefused(LinkFault.NO_LINK, "the account was forgotten")
        return found

    async def accounts_of(self, link_ids: Sequence[UUID]) -> Mapping[UUID, Account]:
        """The accounts of links, ended or not, that were not forgotten; each is read once and kept for a while."""
        kept = {each: account for each in link_ids if (account := self._accounts.get(each)) is not None}
        if missing := [each for each in link_ids if each not in kept]:
            found = await self._store.accounts(missing)
            for each, account in found.items():
                self._accounts.put(each, account)
            kept |= found
        return kept

    def _verified(self, programme: Programme, way: LinkWay) -> Verified:
        now = self._clock.now()
        return Verified(now, now + programme.cooling_off, way)

    async def _refuse(self, link: Link, reason: str, by: Agent, programme: Programme) -> Link:
        """The partner does."""
        ending = Ending(LinkState.REFUSED, by.source, reason)
        also = self._did("verify-link", link, by, programme.country, reason)
        return await self._store.end(link.link_id, ending, self._clock.now(), also)

    async def _count(self, owners: Sequence[str], now: datetime) -> date:
        """An attempt of each owner, the member first, and the day it counts for. Raises `LinkRefused`."""
        day = now.astimezone(UTC).date()
        check_attempts(await self._store.attempt(owners, day), self._attempts, now)
        return day

    async def _tell(self, link: Link, code: str, programme: Programme) -> None:
        minutes = int(CODE_FOR / timedelta(minutes=1))
        news = ExchangeCode(
            program=programme.program, country=programme.country, unit=programme.unit, code=code, minutes=minutes
        )
        notice = Notice(link.member_id, f"exchange-code:{link.link_id}", self._clock.now(), 0, news)
        await self._notices.enter([notice], gathered_for=_AT_ONCE)

    def _did(self, did: str, of: _Of, by: Agent, country: str | None, reason: str | None = None) -> Also:
        """The entry of the log, of what a person of the house does."""
        if not (is_person(by.source) or is_login(by.source)):
            return nothing_else
        about, now = f"member:{of.member_id}", self._clock.now()
        said = {"did": did, "of": of.programme, "reason": reason}
        return noted(entry_of(by.source, Deed.MOVE_POINTS, about, now, country=country, **said))


def _owner(member_id: str) -> str:
    """Whose attempts are counted."""
    return f"member:{member_id}"


def _is_done(link: Link) -> bool:
    """Whether the link is verified already. Raises `LinkRefused` where the link has ended."""
    if not link.is_open:
        raise LinkRefused(LinkFault.NO_LINK, f"the link with {link.shown} is {link.state}; ask for another one")
    return link.verified_at is not None


def _random() -> str:
    return randomness.token_urlsafe(_RANDOM_BYTES)


def kept_links(store: LinkStore, clock: Clock, notices: Tell) -> LinkDesk:
    """For people who see links and end them: no link is made by it, and no partner is asked."""
    return LinkDesk(store, clock, lambda: Programmes(()), _nobody, notices)


def _nobody(programme: Programme) -> AccountPort:
    raise TypeError(f"nobody asks the partner of {programme.name} here")
