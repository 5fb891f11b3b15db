"""Sources: the origin that every award, movement and transfer carries."""

from typing import Final, NamedTuple

STREAM: Final = "stream"  # the transactions topic, and refunds on it
IMPORT: Final = "import"  # opening balances of another system
CLOCK: Final = "clock"  # a date that has passed: points lapse, holds are let go

# The pattern of a source. A campaign, an offer, a reward, a journey, a programme of exchanges, a person and a login
# follow a partner's pattern.
SOURCE_PATTERN: Final = (
    r"^(stream|import|clock|(partner|campaign|offer|reward|journey|exchange|person|login):[^\x00-\x1f\x7f]{1,128})$"
)

PARTNER_PREFIX: Final = "partner:"
CAMPAIGN_PREFIX: Final = "campaign:"
OFFER_PREFIX: Final = "offer:"
REWARD_PREFIX: Final = "reward:"
JOURNEY_PREFIX: Final = "journey:"
EXCHANGE_PREFIX: Final = "exchange:"
_PERSON: Final = "person:"
_LOGIN: Final = "login:"
_BY_HAND: Final = ("adjust", "ops")  # how keys made by the command line begin
_BY_PREFIX: Final = {"txn": STREAM, "event": STREAM, "refund": STREAM, "import": IMPORT, "expiry": CLOCK}


class Agent(NamedTuple):
    """Who answers for a change: the actor, and the source by which the change came."""

    actor: str
    source: str


def partner_source(partner_id: str) -> str:
    return PARTNER_PREFIX + partner_id


def campaign_source(name: str) -> str:
    return CAMPAIGN_PREFIX + name


def offer_source(name: str) -> str:
    return OFFER_PREFIX + name


def reward_source(name: str) -> str:
    return REWARD_PREFIX + name


def journey_source(name: str) -> str:
    return JOURNEY_PREFIX + name


def exchange_source(name: str) -> str:
    """The source of what a programme of exchanges does."""
    return EXCHANGE_PREFIX + name


def person_source(person_id: str) -> str:
    """The source of a person whose token was checked."""
    return _PERSON + person_id


def login_source(name: str) -> str:
    """The source of a name that a machine or an operator gave, and that nobody has checked."""
    return _LOGIN + name


def name_of(source: str) -> str:
    """The id within a source: `ann` of `person:ann`."""
    return source.partition(":")[2]


def is_person(source: str) -> bool:
    return source.startswith(_PERSON)


def is_login(source: str) -> bool:
    """Whether it is a name that nobody has checked."""
    return source.startswith(_LOGIN)


def is_by_hand(source: str) -> bool:
    """Whether somebody of the house did it: a person, or a login."""
    return source.startswith((_PERSON, _LOGIN))


def partner_of(source: str | None) -> str | None:
    """The partner that gave the points; None where none did."""
    return source.removeprefix(PARTNER_PREFIX) if source is not None and source.startswith(PARTNER_PREFIX) else None


def campaign_of(source: str) -> str | None:
    """The campaign that gave the points; None where none did."""
    return source.removeprefix(CAMPAIGN_PREFIX) if source.startswith(CAMPAIGN_PREFIX) else None


def source_of_key(key: str, actor: str | None = None) -> str | None:
    """The source that a key implies; None where it implies none. Only this and `source_sql` read awards and
    transfers that were written without a source.
    """
    prefix, _, rest = key.partition(":")
    if prefix == "api":
        return partner_source(rest.partition(":")[0])
    if prefix == "campaign":
        return campaign_source(rest.partition(":")[0])
    if prefix == "journey":
        return journey_source(rest.partition(":")[0])
    if prefix in _BY_HAND and actor is not None:
        return login_source(actor)
    return _BY_PREFIX.get(prefix)


def source_sql(table: str) -> str:
    """SQL for the source of a row of `transfer`, also where it was written without one."""
    return f"""coalesce({table}.source, case split_part({table}.key, ':', 1)
    when 'api' then '{PARTNER_PREFIX}' || split_part({table}.key, ':', 2)
    when 'campaign' then '{CAMPAIGN_PREFIX}' || split_part({table}.key, ':', 2)
    {" ".join(f"when '{prefix}' then '{_LOGIN}' || {table}.actor" for prefix in _BY_HAND)}
    {" ".join(f"when '{prefix}' then '{source}'" for prefix, source in _BY_PREFIX.items())} end)"""


def is_partner_sql(table: str) -> str:
    """SQL for whether a row of `transfer` is a partner's."""
    return f"starts_with({source_sql(table)}, '{PARTNER_PREFIX}')"


def partner_sql(table: str) -> str:
    """SQL for the partner of a row of `transfer`; null where it is nobody's."""
    return f"case when {is_partner_sql(table)} then substr({source_sql(table)}, {len(PARTNER_PREFIX) + 1}) end"
