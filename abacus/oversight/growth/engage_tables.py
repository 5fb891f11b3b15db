"""How tables of campaigns, journeys, offers, rewards, messages and signals grow."""

from typing import Final

from abacus.oversight.growth.ledger_tables import EVER, EXPIRER
from abacus.oversight.growth.types import Group, Growth

_ENGAGED: Final = "`ABACUS_ENGAGE_KEEP_DAYS` (400)"

GROWTH: Final = (
    Growth(
        ("campaign_claim",),
        Group.CAMPAIGNS,
        "each event for which a campaign decided",
        EVER,
        "no event is decided twice, whenever it is read again",
    ),
    Growth(
        ("action",),
        Group.CAMPAIGNS,
        "each deed of campaigns and journeys, and each award of an offer",
        f"awards for ever; others {_ENGAGED} after they were done or refused",
        f"{EXPIRER}; an award is held against its transfer. What waits stays",
    ),
    Growth(
        ("campaign_progress",),
        Group.CAMPAIGNS,
        "each member in a campaign; with a limit or a count by day, week or month, each of these",
        f"a member's whole life in a campaign for ever; days, weeks and months {_ENGAGED}",
        f"{EXPIRER}; a later event of such a day begins to count anew, and is decided once as ever",
    ),
    Growth(
        ("limit_pot", "limit_slot", "campaign_sum", "campaign_seen"),
        Group.CAMPAIGNS,
        "each campaign and day, or hour, however many members",
        EVER,
        "reports, and what is held against claims and awards",
    ),
    Growth(
        ("campaign", "downstream", "downstream_secret", "pace"),
        Group.CAMPAIGNS,
        "each version that a person publishes",
        EVER,
        "awards are recomputed by their version",
    ),
    Growth(
        ("seat",),
        Group.JOURNEYS,
        "each visit of a member",
        EVER,
        "whether a member may enter again; held against the sums",
    ),
    Growth(
        ("journey_trail",),
        Group.JOURNEYS,
        "each step, one row for up to 500 members",
        f"{_ENGAGED} after the last of its members has left",
        f"{EXPIRER}; which way a visit took is not told any more",
    ),
    Growth(
        ("journey_refusal",),
        Group.JOURNEYS,
        "each member who did not enter, one row a journey",
        _ENGAGED,
        f"{EXPIRER}; it says why, and nothing follows from it",
    ),
    Growth(
        ("pack", "journey_deed", "journey_wave", "journey_heard", "journey_behind"),
        Group.JOURNEYS,
        "each group of members who wait, or for whom something waits",
        "until they go on",
        "deleted by the journeyer",
    ),
    Growth(
        ("pack_aside", "journey_deed_aside", "journey_entry_aside"),
        Group.JOURNEYS,
        "what could not be done",
        "until a person sends it on, or it is decided",
        "deleted with that",
    ),
    Growth(
        ("journey", "journey_node", "journey_sum"),
        Group.JOURNEYS,
        "each version; each node and day, however many members",
        EVER,
        "small; reports",
    ),
    Growth(
        ("offer_reservation",),
        Group.OFFERS,
        "each offer that is taken",
        EVER,
        "its key is taken once; each row, also one that was let go, is held against the sums",
    ),
    Growth(
        ("offer_redemption", "offer_taker"),
        Group.OFFERS,
        "each redemption; each member and offer",
        EVER,
        "how often a member may take it; may be rolled back; held against the sums",
    ),
    Growth(
        ("offer_invitation",), Group.OFFERS, "each member who is invited", "while there are invitations", "deleted then"
    ),
    Growth(
        ("offer_gift",),
        Group.OFFERS,
        "each invitation that a deed or a reward gave",
        EVER,
        "under the key of its deed, which gives once; held against what was granted",
    ),
    Growth(
        ("offer_code", "offer_code_use"),
        Group.OFFERS,
        "each single code; each that is taken",
        EVER,
        "a code is used once. A use goes with a reservation that was let go",
    ),
    Growth(
        ("offer_spent",),
        Group.OFFERS,
        "each offer whose limit is reached, and each day of one",
        "until it is free again; else for ever",
        "deleted then; one small row a day",
    ),
    Growth(
        (
            *("offer", "offer_number", "offer_pool", "offer_code_batch", "offer_code_key"),
            *("offer_sum", "offer_shown", "category_tree"),
        ),
        Group.OFFERS,
        "each version; each offer and day, however many members",
        EVER,
        "small; reports, and what is held against rows",
    ),
    Growth(
        ("reward_redemption",),
        Group.REWARDS,
        "each redemption",
        EVER,
        "its key pays once; finance reports what was given",
    ),
    Growth(
        ("reward_code",), Group.REWARDS, "each code that is loaded", EVER, "members look at their codes; given once"
    ),
    Growth(
        ("reward", "reward_pool", "reward_use"),
        Group.REWARDS,
        "each version; each reward and day",
        EVER,
        "small; limits",
    ),
    Growth(
        ("notice", "notification"),
        Group.MESSAGES,
        "each piece of news; each message to a member",
        "`ABACUS_NOTIFY_KEEP_DAYS` (60) after it was told; parked: `ABACUS_UNDELIVERED_KEEP_DAYS` (180)",
        f"deleted by the notifier; parked: {EXPIRER}. News older than three days is not told",
    ),
    Growth(
        ("untold_message", "message_count"),
        Group.MESSAGES,
        "each message that was held back; each member, kind and day",
        "`ABACUS_NOTIFY_KEEP_DAYS` (60); counts 8 days more",
        "deleted by the notifier",
    ),
    Growth(
        ("notification_preference", "contact_policy"),
        Group.MESSAGES,
        "each member who chose; each version",
        EVER,
        "in use",
    ),
    Growth(
        ("counter_row", "counter_partition"),
        Group.SIGNALS,
        "each key and slot with events",
        "as each counter's `keep` says",
        "partitions are dropped by the counter",
    ),
    Growth(("counter_new_keys",), Group.SIGNALS, "each counter, writer and day", "35 days", "deleted by the counter"),
    Growth(
        ("counter_tally", "counter_series", "counter_start"),
        Group.SIGNALS,
        "each partition of a topic, and each backfill",
        EVER,
        "small; no event is counted twice",
    ),
    Growth(
        (
            *("counter_definition", "counter_retirement", "counter_setting"),
            *("event_source", "country_map", "place"),
        ),
        Group.SIGNALS,
        "each version that is published; each place",
        EVER,
        "small. A place that was removed stays as a row, so that all processes read that",
    ),
    Growth(
        ("segment_version",),
        Group.SIGNALS,
        "each version that is loaded",
        "the last few of each segment",
        "deleted by the next version",
    ),
    Growth(
        ("member_number", "member_number_next", "member_number_erased"),
        Group.SIGNALS,
        "each member in a segment or a journey",
        EVER,
        "a number means one member, and is never given again",
    ),
    Growth(("member_region",), Group.SIGNALS, "each member in a region", "1 day", "deleted by the positions"),
    Growth(
        ("region_edition", "region_shape", "region_index"),
        Group.SIGNALS,
        "each edition that is loaded",
        "the last few of each country",
        "deleted by the next edition",
    ),
)
