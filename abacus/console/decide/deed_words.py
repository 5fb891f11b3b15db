"""The words for what was done, by deed, and within a deed by what the entry says that was done. Pure.

`{about}` stands for what it was done to, `{size}` for points without their sign, any other `{name}` for that detail.
What stands in brackets is said where the entry has its details; behind a bar stands what is said otherwise.
"""

from collections.abc import Mapping
from typing import Final

from abacus.people.types.deed import Deed

_POINTS: Final = "[{size} {program}|points]"

# The deeds as people choose among them.
KINDS_OF_DEED: Final[Mapping[Deed, str]] = {
    Deed.ADJUST: "Adjustments of points",
    Deed.REVERSE: "Points taken back",
    Deed.MOVE_POINTS: "Points spent and held",
    Deed.SET_TIERS: "Tiers set by hand",
    Deed.EDIT_RATES: "Drafts of rates",
    Deed.PUBLISH_RATES: "Rates",
    Deed.EDIT_CAMPAIGNS: "Campaigns",
    Deed.EDIT_OFFERS: "Offers",
    Deed.EDIT_REWARDS: "Rewards",
    Deed.EDIT_EXCHANGES: "Exchanges",
    Deed.EDIT_JOURNEYS: "Journeys",
    Deed.EDIT_PLACES: "Places and regions",
    Deed.PUBLISH_CONTACT: "Contact policies",
    Deed.PUBLISH_SEGMENTS: "Segments",
    Deed.PUBLISH_COUNTERS: "Counters",
    Deed.PUBLISH_SOURCES: "Sources of events",
    Deed.PUBLISH_DOWNSTREAMS: "Downstreams",
    Deed.EDIT_PARTNERS: "Partners",
    Deed.EDIT_LIMITS: "Limits of partners",
    Deed.APPROVE: "Decisions on approvals",
    Deed.CLOSE_BOOKS: "Months and accounts",
    Deed.SET_ASSUMPTIONS: "Assumptions",
    Deed.EXPIRE: "Ends of months",
    Deed.SEAL: "Seals",
    Deed.RUN_JOBS: "Jobs",
    Deed.REPLAY: "Replays",
    Deed.IMPORT: "Imports",
    Deed.ERASE: "Erasures",
    Deed.MANAGE_PEOPLE: "People and roles",
    Deed.SIGN_IN: "Signing in and out",
}

# What became of an approval; the deed that was asked for is the entry's own.
OF_APPROVALS: Final[Mapping[str, str]] = {
    "ask": "asked for {about}",
    "approve": "approved {about}",
    "reject": "rejected {about}",
    "void": "put another request in place of {about}",
    "expire": "let {about} lapse, because nobody decided in time",
}

# What became of a draft, of whatever kind.
OF_DRAFTS: Final[Mapping[str, str]] = {
    "save-draft": "saved the draft {about}",
    "delete-draft": "deleted the draft [{title}|of a document]",
}

# What an approval is about, where nobody knows its title.
UNTITLED: Final[Mapping[str, str]] = {
    "adjustment": "an adjustment of points",
    "reversal": "taking points back",
    "rate_card": "a rate card of {of}",
    "limits": "limits of the partner {of}",
    "campaign": "the campaign {of}",
    "offer": "the offer {of}",
    "reward": "the reward {of}",
    "exchange_programme": "the exchange programme {of}",
    "journey": "the journey {of}",
    "journey_migration": "moving the members of the journey {of}",
    "contact_policy": "the contact policy of {of}",
    "assumption": "assumptions",
    "month_close": "the close of {of}",
}

# By what the entry says that was done, or by the kind of transfer or of subject; "" is said of everything else.
DONE: Final[Mapping[Deed, Mapping[str, str]]] = {
    Deed.SIGN_IN: {
        "sign-in": "signed in[ by {way}][ from {address}]",
        "sign-out": "signed out",
        "end-session": "ended another session of its own",
        "hash-password-anew": "signed in, and the password was stored anew, in the form of today",
    },
    Deed.ADJUST: {"": "adjusted the points of {about}[ by {points} {program}]"},
    Deed.REVERSE: {"": f"took back {_POINTS} of {{about}}"},
    Deed.MOVE_POINTS: {
        "spend": f"spent {_POINTS} of {{about}}",
        "hold": f"held {_POINTS} of {{about}}",
        "release": f"released {_POINTS} of {{about}}",
        "roll-back": "rolled back a redemption of the offer[ {of}] for {about}",
        "cancel": "cancelled a redemption of the reward[ {of}] for {about}",
        "return": "returned a redemption of the reward[ {of}] for {about}",
        "enter": "let {about} enter the journey[ {of}]",
        "link": "asked to link an account of {about} at the exchange programme[ {of}]",
        "verify-link": "verified the account of {about} at the exchange programme[ {of}]",
        "unlink": "ended the link of {about} to the exchange programme[ {of}]",
        "": "moved points of {about}",
    },
    Deed.SET_TIERS: {
        "clear": "left the tier of {about}[ in {program}] to the points",
        "": "set the tier of {about}[ in {program}][ to {tier}]",
    },
    Deed.EDIT_RATES: {"": "drafted rates of {about}"},
    Deed.PUBLISH_RATES: {
        "withdraw": "withdrew the rate card {about}",
        "example": "published an example as the rate card {about}",
        "": "published the rate card {about}",
    },
    Deed.PUBLISH_SOURCES: {"": "published the source of events {about}"},
    Deed.PUBLISH_COUNTERS: {
        "retire": "retired the counter {about}",
        "backfill": "had the counter {about} count earlier events[, since {since}]",
        "": "published the counter {about}",
    },
    Deed.EDIT_CAMPAIGNS: {
        "draft": "drafted the campaign {about}",
        "submit": "submitted the campaign {about}",
        "withdraw": "withdrew the campaign {about}",
        "pause": "paused the campaign {about}",
        "resume": "let the campaign {about} run again",
        "end": "ended the campaign {about}",
        "exhausted": "reached a limit and stopped",
        "": "changed the campaign {about}",
    },
    Deed.EDIT_OFFERS: {
        "draft": "drafted the offer {about}",
        "submit": "submitted the offer {about}",
        "withdraw": "withdrew the offer {about}",
        "pause": "paused the offer {about}",
        "resume": "let the offer {about} hold again",
        "end": "ended the offer {about}",
        "invite": "invited members to the offer {about}",
        "uninvite": "took back invitations to the offer {about}",
        "load-codes": "loaded codes of the offer {about}",
        "withdraw-codes": "withdrew codes of the offer {about}",
        "exhausted": "reached a limit and stopped",
        "categories": "published the categories of {about}",
        "": "changed the offer {about}",
    },
    Deed.PUBLISH_CONTACT: {"": "published the contact policy of {about}"},
    Deed.EDIT_REWARDS: {
        "draft": "drafted the reward {about}",
        "submit": "submitted the reward {about}",
        "withdraw": "withdrew the reward {about}",
        "pause": "paused the reward {about}",
        "resume": "offered the reward {about} again",
        "end": "ended the reward {about}",
        "load-codes": "loaded codes into the pool {about}[ from {file}]",
        "": "changed the reward {about}",
    },
    Deed.EDIT_EXCHANGES: {
        "draft": "drafted the exchange programme {about}",
        "submit": "submitted the exchange programme {about}",
        "withdraw": "withdrew the exchange programme {about}",
        "pause": "paused the exchange programme {about}",
        "resume": "let the exchange programme {about} run again",
        "end": "ended the exchange programme {about}",
        "": "changed the exchange programme {about}",
    },
    Deed.EDIT_JOURNEYS: {
        "draft": "drafted the journey {about}",
        "submit": "submitted the journey {about}",
        "withdraw": "withdrew the journey {about}",
        "pause": "paused the journey {about}",
        "resume": "let the journey {about} go on",
        "end": "ended the journey {about}",
        "allow-migration": "asked to move the members of {about}[ from version {from} to {to}]",
        "retry": "let members of {about} go on who could not be moved",
        "migrate": "moved the members of {about}[ from version {from} to {to}]",
        "": "changed the journey {about}",
    },
    Deed.EDIT_PLACES: {
        "load-regions": "loaded {about}[: {added} more, {changed} changed, {removed} fewer]",
        "enter-regions": "asked to put {about} in force[: {added} more, {changed} changed, {removed} fewer]",
        "load-places": "loaded places of {about}[ from {file}]",
        "replace-places": "loaded places of {about}[ from {file}], in place of all others",
        "remove-place": "removed the place {about}",
        "map": "published the map of {about}",
        "": "changed the places of {about}",
    },
    Deed.PUBLISH_DOWNSTREAMS: {
        "retire": "retired the downstream {about}",
        "rotate-secret": "gave the downstream {about} another secret",
        "": "published the downstream {about}",
    },
    Deed.PUBLISH_SEGMENTS: {
        "load": "loaded the segment {about}[ from {file}]",
        "add": "added members to the segment {about}",
        "remove": "removed members from the segment {about}",
        "drop": "dropped the segment {about}",
        "": "changed the members of the segment {about}",
    },
    Deed.EDIT_PARTNERS: {
        "create": "entered the partner {about}",
        "set": "changed the rights of the partner {about}",
        "rotate-key": "gave the partner {about} a new key",
        "test-key": "gave the partner {about} a key for the sandbox",
        "sign": "changed whether the partner {about} signs its requests",
        "disable": "refused all keys of the partner {about}",
        "enable": "let the keys of the partner {about} in again",
        "rewrap": "encrypted the secrets of partners anew",
        "webhook": "set the webhook of the partner {about}[ to {url}]",
        "rotate-webhook-secret": "gave the webhook of the partner {about} another secret",
        "remove-webhook": "removed the webhook of the partner {about}",
        "": "changed the partner {about}",
    },
    Deed.EDIT_LIMITS: {
        "test-key": "gave the partner {about} limits for the sandbox",
        "": "changed the limits of the partner {about}",
    },
    Deed.CLOSE_BOOKS: {
        "reopened": "took the close of {about} back",
        "month": "signed the close of {about}",
        "accounts": "published the journal's accounts of {about}",
        "": "worked on {about}",
    },
    Deed.SET_ASSUMPTIONS: {"": "set assumptions for {about}[, from {start} on]"},
    Deed.EXPIRE: {"": "ran the end of a month"},
    Deed.SEAL: {"": "sealed the ledger"},
    Deed.RUN_JOBS: {
        "cache": "set the share of counters that is kept in memory[ to {share} %]",
        "cache-share": "set the share of answers of {about} that are kept[ to {share} %]",
        "caches-off": "switched all caches off",
        "caches-on": "switched all caches on",
        "": "ran the job {about}",
    },
    Deed.REPLAY: {
        "retry-webhook": "sent messages of the webhook of {about} again",
        "rewind": "had the points stream published again[, from {start} on]",
        "redrive": "sent dead letters of the queue {about} back",
        "retry-calls": "had the downstream {about} called again",
        "quarantine": "replayed messages from the {about}",
        "notifications": "had parked messages to members sent again",
        "": "replayed {about}",
    },
    Deed.IMPORT: {"": "imported opening balances of {about}[ from {file}]"},
    Deed.ERASE: {"": "erased a member, now called {about}"},
    Deed.MANAGE_PEOPLE: {
        "create": "entered {about}[ as {roles}]",
        "roles": "[gave {about} the roles {roles}|took all roles from {about}]",
        "vouched": "came from the provider of identities[ as {roles}]",
        "disable": "disabled {about}",
        "enable": "let {about} sign in again",
        "end-sessions": "ended the sessions of {about}",
        "token": "made a token for {about}[, good for {days} days]",
        "revoke": "revoked a token of {about}",
        "password": "set the password of {about}",
        "totp": "gave {about} an authenticator",
        "totp-remove": "took the authenticator of {about} away",
        "link": "made a link by which {about} signs in",
        "": "changed {about}",
    },
}
