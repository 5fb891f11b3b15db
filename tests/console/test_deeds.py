"""Entries of the log as sentences that people say."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from abacus.console.decide.deed_words import DONE, KINDS_OF_DEED, OF_APPROVALS, OF_DRAFTS
from abacus.console.decide.deeds import Piece, sentence_of
from abacus.people.store.audit import entry_of
from abacus.people.types.deed import Deed

NOW = datetime(2026, 7, 3, tzinfo=UTC)
ID = "00000000-0000-4000-8000-000000000001"
TITLES = {ID: "campaign Double points for food, version 3"}
OF_MARKET = {"kind": "campaign", "of": "market", "digest": "d1"}

ROWS: list[tuple[Deed, str, dict[str, Any], str]] = [
    (Deed.APPROVE, f"approval:{ID}", {"did": "approve", **OF_MARKET}, f"approved {TITLES[ID]}"),
    (Deed.APPROVE, "approval:7", {"did": "reject", **OF_MARKET, "reason": "no"}, "rejected the campaign market: “no”"),
    (Deed.ADJUST, "approval:7", {"did": "ask", "kind": "adjustment"}, "asked for an adjustment of points"),
    (Deed.SET_ASSUMPTIONS, "approval:7", {"did": "ask", "kind": "gift"}, "asked for what needs a second person"),
    (
        Deed.ADJUST,
        "member:bob",
        {"kind": "adjust", "points": 1500, "program": "GRP", "key": "k", "approved_by": "person:dora"},
        "adjusted the points of bob by +1,500 GRP, approved by dora",
    ),
    (Deed.ADJUST, "member:bob", {}, "adjusted the points of bob"),
    (Deed.REVERSE, "member:bob", {"kind": "reverse", "points": -300, "program": "GRP"}, "took back 300 GRP of bob"),
    (Deed.MOVE_POINTS, "member:bob", {"kind": "hold", "points": -5, "program": "GRP"}, "held 5 GRP of bob"),
    (Deed.MOVE_POINTS, "member:bob", {"kind": "spend"}, "spent points of bob"),
    (Deed.SET_TIERS, "member:bob", {"did": "set", "tier": "gold"}, "set the tier of bob to gold"),
    (Deed.PUBLISH_RATES, "card:SG@3", {"did": "withdraw"}, "withdrew the rate card SG@3"),
    (Deed.EDIT_CAMPAIGNS, "campaign:market", {"did": "pause"}, "paused the campaign market"),
    (Deed.EDIT_OFFERS, "offer:lunch_20", {"did": "resume"}, "let the offer lunch_20 hold again"),
    (Deed.PUBLISH_CONTACT, "contact:SG", {"changes": ["a"]}, "published the contact policy of SG"),
    (Deed.EDIT_PLACES, "map:SG", {"changes": ["a"]}, "published the map of SG"),
    (
        Deed.EDIT_PLACES,
        "places:SG",
        {"did": "load-places", "file": "shops.csv"},
        "loaded places of SG from shops.csv",
    ),
    (Deed.EDIT_OFFERS, "categories:SG", {"changes": ["a"]}, "published the categories of SG"),
    (Deed.CLOSE_BOOKS, "month:2026-06", {"accepted": []}, "signed the close of 2026-06"),
    (Deed.CLOSE_BOOKS, "month:2026-06", {"reopened": True}, "took the close of 2026-06 back"),
    (Deed.CLOSE_BOOKS, "accounts:all", {"changes": ["a"]}, "published the journal's accounts of all"),
    (
        Deed.SET_ASSUMPTIONS,
        "assumption:GRP:SG",
        {"start": "2026-01-01"},
        "set assumptions for GRP in SG, from 2026-01-01 on",
    ),
    (Deed.SEAL, "job:seal", {}, "sealed the ledger"),
    (Deed.EDIT_CAMPAIGNS, "draft:7", {"did": "save-draft", "title": "Late"}, "saved the draft Late"),
    (Deed.EDIT_CAMPAIGNS, "draft:7", {"did": "delete-draft"}, "deleted the draft of a document"),
    (Deed.RUN_JOBS, "job:tiers-roll", {}, "ran the job tiers roll"),
    (
        Deed.RUN_JOBS,
        "members",
        {"did": "cache-share", "share": 35},
        "set the share of answers of members that are kept to 35 %",
    ),
    (Deed.RUN_JOBS, "caches", {"did": "caches-off", "share": 0}, "switched all caches off"),
    (Deed.REPLAY, "quarantine", {"reason": "unknown-tier"}, "replayed messages from the quarantine: “unknown-tier”"),
    (Deed.REPLAY, "queue:award", {"did": "redrive", "limit": 5}, "sent dead letters of the queue award back"),
    (Deed.MANAGE_PEOPLE, "person:bob", {"did": "roles", "roles": ["a", "b"]}, "gave bob the roles a, b"),
    (Deed.MANAGE_PEOPLE, "person:bob", {"did": "roles", "roles": []}, "took all roles from bob"),
    (Deed.MANAGE_PEOPLE, "person:bob", {"did": "juggle"}, "changed bob"),
    (Deed.SIGN_IN, "person:bob", {"did": "sign-in", "way": "link", "address": "::1"}, "signed in by link from ::1"),
]


@pytest.mark.parametrize(("deed", "subject", "details", "sentence"), ROWS)
def test_an_entry_is_a_sentence(deed: Deed, subject: str, details: dict[str, Any], sentence: str) -> None:
    found = sentence_of(entry_of("person:ann", deed, subject, NOW, **details), TITLES)
    assert "".join(each.text for each in found.says) == sentence


def test_what_a_sentence_names_is_linked_and_what_it_leaves_out_stands_behind() -> None:
    entry = entry_of(
        "person:ann", Deed.ADJUST, "member:bob", NOW, points=5, program="GRP", approved_by="person:dora", key="k"
    )
    found = sentence_of(entry)
    assert [each for each in found.says if each.kind] == [
        Piece("bob", "member", "bob"),
        Piece("dora", "person", "dora"),
    ]
    assert [(each.place, each.value) for each in found.besides] == [("key", "k")]


@pytest.mark.parametrize("deed", [each for each in Deed if each is not Deed.SEE])
def test_every_deed_has_words_that_need_nothing_but_the_subject(deed: Deed) -> None:
    assert deed in KINDS_OF_DEED
    patterns = [*DONE.get(deed, {}).values(), *OF_APPROVALS.values(), *OF_DRAFTS.values()]
    needed = {name for each in patterns for name in re.findall(r"\{(\w+)\}", re.sub(r"\[[^\]]*\]", "", each))}
    assert needed == {"about"}
