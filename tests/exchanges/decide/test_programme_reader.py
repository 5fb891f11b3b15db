"""Programmes as people write them: read and written again, and every fault with its path."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import time, timedelta
from decimal import Decimal
from typing import Any, Final

import pytest

from abacus.exchanges.decide.programme import ByFile, Caps, Credit, Direction, Offered
from abacus.exchanges.decide.programme_document import to_document
from abacus.exchanges.decide.programme_reader import ProgrammeFaults, parse_programme, restore_programme
from abacus.exchanges.decide.terms import Ratio, Terms
from tests.support.exchanges import SKYMILES, around

OUT: Final[Mapping[str, Any]] = SKYMILES["out"]
EVERYTHING: Final[Mapping[str, Any]] = {
    **{name: value for name, value in SKYMILES.items() if name != "in"},
    "about": "To miles",
    "out": {**OUT, "fee": 100, "caps": {"member_day": 5000, "member_month": 20_000, "day": 10**6, "ever": 10**8}},
    "carrier": {"place": "s3://skyline-files/abacus", "cut_off": "18:30"},
    "money": {"currency": "USD", "tax_code": "ZR", "credit_limit": "50000"},
    "quote_for": "15m",
    "late_after": "2d",
    "cancel_after": "5d",
    "cooling_off": "7d",
    "reverses_for": "30d",
    "review_above": 50_000,
    "when": {"operator": "in", "lhs": "member.tier", "rhs": ["gold", "platinum"]},
    "oauth": {
        "authorize_url": "https://login.skyline.example/authorize?brand=sky",
        "token_url": "https://login.skyline.example/token",
        "account_url": "https://login.skyline.example/account",
        "client_id": "abacus",
        "redirect_uris": ["https://app.example/linked", "com.example.app:/linked"],
        "scope": "account openid",
        "issuer": "https://login.skyline.example",
    },
}
OAUTH: Final[Mapping[str, Any]] = EVERYTHING["oauth"]


def test_a_programme_with_everything_is_read_and_written_again() -> None:
    read = parse_programme(EVERYTHING, around())
    assert read.directions == {Direction.OUT: Offered(Terms(Ratio(5, 2), 1000, 500, 100_000), Decimal("0.012"), 100)}
    assert read.caps == {Direction.OUT: Caps(5000, 20_000, 10**6, 10**8)}
    assert read.carrier == ByFile("s3://skyline-files/abacus", time(18, 30))
    assert (read.money.terms, read.cancel_after) == (Credit(Decimal(50_000)), timedelta(days=5))
    assert parse_programme(to_document(read), around()) == read
    assert restore_programme(to_document(read), 0) == read


def test_both_directions_by_http_in_advance_are_read_and_written_again() -> None:
    read = parse_programme(SKYMILES, around())
    assert list(read.directions) == [Direction.OUT, Direction.IN]
    assert restore_programme(to_document(read), 0) == read


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"name": "Sky Miles"}, "name"),
        ({"country": "XX"}, "country"),
        ({"timezone": "Asia/Singapur"}, "timezone"),
        ({"ends_at": "2020-01-01T00:00:00+08:00"}, "ends_at"),
        ({"partner": "nobody"}, "partner"),
        ({"program": "OVO"}, "program"),
        ({"unit": " "}, "unit"),
        ({"out": {**OUT, "give": 0}}, "out.give"),
        ({"out": {**OUT, "get": "2"}}, "out.get"),
        ({"out": {**OUT, "give": 2.5}}, "out.give"),
        ({"out": {**OUT, "maximum": 900}}, "out.maximum"),
        ({"out": {**OUT, "minimum": 1100, "maximum": 1400}}, "out.multiple"),
        ({"out": {**OUT, "give": 10**6, "get": 1}}, "out.minimum"),
        ({"out": {**OUT, "give": 1, "get": 10**6, "maximum": 10**15}}, "out.maximum"),
        ({"out": {**OUT, "price": 0.012}}, "out.price"),
        ({"out": {**OUT, "price": "-1"}}, "out.price"),
        ({"out": {**OUT, "fee": -1}}, "out.fee"),
        ({"in": {**OUT, "fee": 1}}, "in.fee"),
        ({"out": {**OUT, "caps": {"member_day": 999}}}, "out.caps.member_day"),
        ({"in": {**OUT, "caps": {"day": 399}}}, "in.caps.day"),
        ({"out": {**OUT, "caps": {"year": 5000}}}, "out.caps.year"),
        ({"carrier": {}}, "carrier.url"),
        ({"carrier": {"url": "http://loyalty.example"}}, "carrier.url"),
        ({"carrier": {"url": "https://127.0.0.1/abacus"}}, "carrier.url"),
        ({"carrier": {"url": "https://loyalty.example/?a=b"}}, "carrier.url"),
        ({"carrier": {"place": "s3:/bucket", "cut_off": "18:00"}}, "carrier.place"),
        ({"carrier": {"place": "files", "cut_off": "18:00"}}, "carrier.place"),
        ({"carrier": {"place": "/srv/../etc", "cut_off": "18:00"}}, "carrier.place"),
        ({"carrier": {"place": "/srv/files"}}, "carrier.cut_off"),
        ({"carrier": {"place": "/srv/files", "cut_off": "18:00", "url": "https://loyalty.example"}}, "carrier.place"),
        ({"money": {"currency": "sgd", "tax_code": "ZR", "alert_below": "1"}}, "money.currency"),
        ({"money": {"currency": "SGD", "tax_code": "", "alert_below": "1"}}, "money.tax_code"),
        ({"money": {"currency": "SGD", "tax_code": "ZR"}}, "money.alert_below"),
        ({"money": {**SKYMILES["money"], "credit_limit": "1"}}, "money.credit_limit"),
        ({"oauth": {name: each for name, each in OAUTH.items() if name != "token_url"}}, "oauth.token_url"),
        ({"oauth": {**OAUTH, "authorize_url": "http://login.example"}}, "oauth.authorize_url"),
        ({"oauth": {**OAUTH, "token_url": "https://10.0.0.1/token"}}, "oauth.token_url"),
        ({"oauth": {**OAUTH, "account_url": "https://login.example/#me"}}, "oauth.account_url"),
        ({"oauth": {**OAUTH, "client_id": "a b"}}, "oauth.client_id"),
        ({"oauth": {**OAUTH, "client_secret": "secret"}}, "oauth.client_secret"),
        ({"oauth": {**OAUTH, "scope": "account  openid"}}, "oauth.scope"),
        ({"oauth": {**OAUTH, "scope": 'a"b'}}, "oauth.scope"),
        ({"oauth": {**OAUTH, "issuer": "login"}}, "oauth.issuer"),
        ({"oauth": {**OAUTH, "redirect_uris": []}}, "oauth.redirect_uris"),
        ({"oauth": {**OAUTH, "redirect_uris": "https://app.example/linked"}}, "oauth.redirect_uris"),
        ({"oauth": {**OAUTH, "redirect_uris": ["https://app.example/linked"] * 2}}, "oauth.redirect_uris"),
        ({"oauth": {**OAUTH, "redirect_uris": ["http://app.example/linked"]}}, "oauth.redirect_uris"),
        ({"oauth": {**OAUTH, "redirect_uris": ["https://app.example/#linked"]}}, "oauth.redirect_uris"),
        ({"oauth": {**OAUTH, "redirect_uris": ["javascript:alert(1)"]}}, "oauth.redirect_uris"),
        ({"oauth": {**OAUTH, "redirect_uris": ["com.example.app:linked"]}}, "oauth.redirect_uris"),
        ({"quote_for": "2d"}, "quote_for"),
        ({"cancel_after": "1h"}, "cancel_after"),
        ({"review_above": 0}, "review_above"),
        ({"when": {"operator": "eq", "lhs": "var.amount", "rhs": 1}}, "when.lhs"),
        ({"partners": "skyline"}, "partners"),
    ],
    ids=str,
)
def test_a_fault_is_told_with_its_path(changed: Mapping[str, Any], path: str) -> None:
    with pytest.raises(ProgrammeFaults) as refused:
        parse_programme({**SKYMILES, **changed}, around())
    assert [fault.path for fault in refused.value.faults] == [path]


def test_a_programme_in_no_direction_exchanges_nothing() -> None:
    with pytest.raises(ProgrammeFaults) as refused:
        parse_programme({name: each for name, each in SKYMILES.items() if name not in {"out", "in"}}, around())
    assert [fault.path for fault in refused.value.faults] == ["out"]


def test_an_address_within_is_for_houses_that_allow_it() -> None:
    within = {**SKYMILES, "carrier": {"url": "http://127.0.0.1:8080/abacus"}}
    assert parse_programme(within, replace(around(), to_private=True)).name == "skymiles"
