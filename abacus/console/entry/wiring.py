"""How people are let into the console: what the settings say of it, and the door that is put together of that."""

from datetime import timedelta
from typing import NamedTuple

from abacus.console.entry.authenticators import Authenticators
from abacus.console.entry.decide import claims as vouching
from abacus.console.entry.desk import PeopleDesk
from abacus.console.entry.door import Door
from abacus.console.entry.links import Links
from abacus.console.entry.passwords import Passwords
from abacus.console.entry.provider import BACK, Client, Provider
from abacus.console.entry.sessions import SessionStore
from abacus.console.entry.types import Address, SessionLimits
from abacus.core.errors import Refused
from abacus.people.directory import PeopleDirectory
from abacus.people.store.people import PeopleStore
from abacus.people.types.person import Role
from abacus.platform.postgres import Pool
from abacus.platform.settings import Settings
from abacus.platform.wiring import Wiring


class EntryPlan(NamedTuple):
    """What the settings say about letting people in."""

    address: Address
    limits: SessionLimits
    code_for: tuple[Role, ...]
    client: Client | None
    reading: vouching.ClaimRules


def plan_of(settings: Settings) -> EntryPlan:
    """Raises `Refused` with the setting that is wrong, or missing beside another."""
    public_url = settings.console_public_url or f"http://{settings.console_host}:{settings.console_port}"
    try:
        groups = vouching.read_groups(settings.console_oidc_groups)
    except (ValueError, Refused) as fault:
        raise Refused(f"ABACUS_CONSOLE_OIDC_GROUPS: {fault}") from None
    return EntryPlan(
        Address(public_url, behind_proxy=settings.console_behind_proxy),
        SessionLimits(
            timedelta(minutes=settings.console_idle_minutes), timedelta(hours=settings.console_session_hours)
        ),
        _roles(settings.console_code_for or ""),
        _client(settings, public_url),
        vouching.ClaimRules(settings.console_oidc_id_claim, settings.console_oidc_groups_claim, groups),
    )


class Ways(NamedTuple):
    """By what people get in."""

    passwords: Passwords
    authenticators: Authenticators
    links: Links


def ways_of(wiring: Wiring, pool: Pool) -> Ways:
    return Ways(
        Passwords(pool, wiring.clock), Authenticators(pool, wiring.clock, wiring.secrets()), Links(pool, wiring.clock)
    )


def door_of(
    wiring: Wiring,
    plan: EntryPlan,
    pool: Pool,
    ways: Ways,
    *,
    people: PeopleDirectory,
    store: PeopleStore,
    sessions: SessionStore,
) -> Door:
    return Door(
        people=people,
        store=store,
        sessions=sessions,
        **ways._asdict(),
        limiter=wiring.limiter(pool, apart="console:"),
        clock=wiring.clock,
        code_for=plan.code_for,
    )


def people_desk(wiring: Wiring, plan: EntryPlan, store: PeopleStore, ways: Ways) -> PeopleDesk:
    return PeopleDesk(store, wiring.clock, **ways._asdict(), address=plan.address.public_url)


def provider_of(wiring: Wiring, plan: EntryPlan) -> tuple[Provider, ...]:
    if plan.client is None:
        return ()
    provider = Provider(plan.client, plan.reading, wiring.clock)
    wiring.at_the_end(provider.close)
    return (provider,)


def _client(settings: Settings, public_url: str) -> Client | None:
    issuer, client_id = settings.console_oidc_issuer, settings.console_oidc_client_id
    if issuer is None and client_id is None:
        return None
    if issuer is None or client_id is None:
        raise Refused("ABACUS_CONSOLE_OIDC_ISSUER and ABACUS_CONSOLE_OIDC_CLIENT_ID go together")
    if not issuer.startswith(("https://", "http://127.0.0.1:", "http://localhost:")):
        raise Refused("ABACUS_CONSOLE_OIDC_ISSUER: an https address is needed")
    return Client(issuer, client_id, settings.console_oidc_client_secret, public_url + BACK)


def _roles(text: str) -> tuple[Role, ...]:
    names = [each.strip() for each in text.split(",") if each.strip()]
    unknown = sorted(set(names) - set(Role))
    if unknown:
        raise Refused(f"ABACUS_CONSOLE_CODE_FOR: no role is called {unknown[0]}; there are {', '.join(Role)}")
    return tuple(Role(each) for each in names)
