"""How tables of the ledger, of its proofs and programs, of the intake, partners and exchanges grow."""

from typing import Final

from abacus.oversight.growth.types import Group, Growth

EVER: Final = "for ever"
EXPIRER: Final = "deleted by the expirer"

GROWTH: Final = (
    Growth(
        ("transfer", "draw"),
        Group.LEDGER,
        "each posting: awards, spends, holds, expiry, corrections",
        EVER,
        "the ledger itself: each transfer proves the ones before it",
    ),
    Growth(
        ("claim",), Group.LEDGER, "each key that was posted", EVER, "a key posts once, whenever it comes again; proven"
    ),
    Growth(("account",), Group.LEDGER, "each member and program", EVER, "one row for each; an erasure renames it"),
    Growth(
        ("hold",), Group.LEDGER, "each reservation of points", EVER, "proven by the transfers that place and settle"
    ),
    Growth(
        ("key_slice",),
        Group.LEDGER,
        "each key, where there are slices",
        EVER,
        "says in which slice a key is claimed: without it a key could be posted in two",
    ),
    Growth(
        ("seal", "seal_slice", "sealed_leaf"),
        Group.LEDGER,
        "each seal, each slice in it, and each erased account in each old seal",
        EVER,
        "the proof over all transfers",
    ),
    Growth(
        ("generation", "key_filter"),
        Group.LEDGER,
        "each ten million transfers: a row, and twelve bits for each of their keys",
        EVER,
        "tells that a key is not among them",
    ),
    Growth(("slice", "slice_step", "relay_cursor"), Group.LEDGER, "nothing: some rows for each slice", EVER, "in use"),
    Growth(
        ("moved_alone",),
        Group.LEDGER,
        "each actor and member with movements of one person, by day",
        "30 days, then until the next movement of the same",
        "deleted by the next movement",
    ),
    Growth(
        ("tier_change",),
        Group.PROGRAMS,
        "each change of a member's tier",
        EVER,
        "the history of a tier, which is checked without a gap",
    ),
    Growth(("account_tier", "membership"), Group.PROGRAMS, "each member with a tier", EVER, "one row for each; in use"),
    Growth(
        ("tier_tally",),
        Group.PROGRAMS,
        "each member and period of tiers",
        EVER,
        "counted again from the transfers; what is taken back late counts in its own period",
    ),
    Growth(
        ("tier_calendar", "tier_roll", "expiry_run", "expiry_batch"),
        Group.PROGRAMS,
        "each country's roll, month's end, and 500 accounts in it",
        EVER,
        "small; a month is swept once. The body of a batch goes when it is done",
    ),
    Growth(
        ("rate_card", "rate_card_withdrawal"),
        Group.PROGRAMS,
        "each version that a person publishes",
        EVER,
        "transfers are recomputed by them",
    ),
    Growth(
        ("assumption", "month_close", "journal_accounts"),
        Group.PROGRAMS,
        "each act of finance",
        EVER,
        "the books of a month are computed again by them",
    ),
    Growth(
        ("rejection",),
        Group.INTAKE,
        "each award that met a limit",
        EVER,
        "a rejected key stays rejected, as a posted one stays posted",
    ),
    Growth(
        ("quarantine",),
        Group.INTAKE,
        "each message that was set aside",
        "held: until it is replayed; replayed: `ABACUS_REPLAYED_KEEP_DAYS` (400)",
        f"{EXPIRER}; its fate is in the ledger and in the log",
    ),
    Growth(("quarantine_tally",), Group.INTAKE, "nothing: 1,024 rows", EVER, "checks the quarantine"),
    Growth(
        ("points_pulse",),
        Group.INTAKE,
        "each minute and quarter of an hour, by country",
        "minutes 6 hours, quarters 35 days",
        "deleted by the awarders",
    ),
    Growth(
        ("partner_award",),
        Group.PARTNERS,
        "each award that a partner asks for by the API",
        EVER,
        "finds an award by the partner's id, refuses the id with other facts; checked against its transfer",
    ),
    Growth(
        ("allowance_member",),
        Group.PARTNERS,
        "each member, partner and day with an award",
        EVER,
        "checked day by day against the transfers; an award that comes late counts on its own day",
    ),
    Growth(
        ("partner", "partner_key", "allowance", "allowance_part", "webhook", "webhook_cursor"),
        Group.PARTNERS,
        "each partner and key",
        EVER,
        "small; what a partner once was may stand in the log",
    ),
    Growth(("partner_request",), Group.PARTNERS, "each request of a partner", "7 days", "deleted by the API"),
    Growth(
        ("webhook_delivery",),
        Group.PARTNERS,
        "each message to a partner",
        "delivered: 31 days; given up: `ABACUS_UNDELIVERED_KEEP_DAYS` (180)",
        f"deleted by the webhooks; given up: {EXPIRER}",
    ),
    Growth(
        ("exchange", "exchange_turn"),
        Group.EXCHANGES,
        "each quote; each turn of an exchange",
        "quotes that were not taken: 1 hour; exchanges for ever",
        "quotes are deleted by the exchanger; an exchange is half of a transfer, and its id is never used again",
    ),
    Growth(
        ("exchange_link",),
        Group.EXCHANGES,
        "each account of a partner that a member links, or began to",
        EVER,
        "exchanges name it; who had a number before is asked when it is linked again",
    ),
    Growth(
        ("exchange_link_attempt",), Group.EXCHANGES, "each attempt to link", "2 days", "deleted by the next attempt"
    ),
    Growth(
        ("exchange_position", "exchange_standing", "exchange_use"),
        Group.EXCHANGES,
        "each entry between both houses; each period of a limit",
        EVER,
        "books with a partner",
    ),
    Growth(
        (
            *("exchange_file", "exchange_order", "exchange_partner_day", "exchange_partner_line"),
            *("exchange_break", "exchange_bill", "exchange_invoice", "exchange_payment"),
        ),
        Group.EXCHANGES,
        "each file, statement with its lines, difference, bill and payment",
        EVER,
        "evidence of what both houses said; finance needs it for years",
    ),
    Growth(
        (
            *("exchange_programme", "exchange_client_secret", "exchange_key"),
            *("exchange_cursor", "exchange_timeline"),
        ),
        Group.EXCHANGES,
        "each version that a person publishes",
        EVER,
        "small; exchanges are read by their version",
    ),
)
