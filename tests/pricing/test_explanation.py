"""Explanations: each kind is written and read, old versions as the new one, and unknown ones are named plainly."""

import json
from dataclasses import fields
from typing import get_args

import jsonschema
import pytest

from abacus.core.errors import AbacusError
from abacus.platform.postgres import Pool
from abacus.pricing.decide.card import PublishedCard
from abacus.pricing.decide.formula import rate_of, worth
from abacus.pricing.explanation import sql
from abacus.pricing.explanation.schema import NAME
from abacus.pricing.explanation.text import UnknownExplanation, UnreadableExplanation, read, text_of
from abacus.pricing.explanation.types import (
    Adjusted,
    Calculated,
    Campaigned,
    Captured,
    ExchangedIn,
    ExchangedOut,
    Explanation,
    FactorName,
    Fixed,
    Granted,
    Held,
    Imported,
    Journeyed,
    LapsedByLots,
    LapsedWhole,
    Offered,
    Released,
    Reversed,
    Rewarded,
    Spent,
)
from tests.support.cards import SINGAPORE
from tests.support.explanations import VERSION_0, in_version_1
from tests.support.paths import DOCS

KINDS: dict[str, type[Explanation]] = {
    "calculated": Calculated,
    "fixed": Fixed,
    "granted": Granted,
    "by a campaign": Campaigned,
    "by a campaign's formula": Campaigned,
    "by an offer": Offered,
    "by an offer, so many times": Offered,
    "by a reward": Rewarded,
    "by a journey": Journeyed,
    "refunded": Reversed,
    "reversed": Reversed,
    "given back": Reversed,
    "refunded at a till": Reversed,
    "lapsed whole": LapsedWhole,
    "lapsed before there were lots": LapsedWhole,
    "lapsed by lots": LapsedByLots,
    "spent": Spent,
    "spent at a till": Spent,
    "captured": Captured,
    "exchanged out": ExchangedOut,
    "exchanged in": ExchangedIn,
    "held for an exchange": Held,
    "held": Held,
    "released": Released,
    "adjusted": Adjusted,
    "adjusted without approval": Adjusted,
    "imported": Imported,
}
SCHEMA = jsonschema.Draft202012Validator(json.loads((DOCS / f"schemas/{NAME}.json").read_text("utf-8")))
LUNCH = json.loads(VERSION_0["calculated"])


def changed(**changes: object) -> bytes:
    return json.dumps(LUNCH | changes).encode()


def test_every_kind_has_a_sample() -> None:
    assert KINDS.keys() == VERSION_0.keys()
    assert set(KINDS.values()) == set(get_args(Explanation))


@pytest.mark.parametrize("name", VERSION_0)
def test_version_0_is_read_as_version_1_is(name: str) -> None:
    old, new = VERSION_0[name], in_version_1(VERSION_0[name])
    assert read(old) == read(new)
    assert isinstance(read(old), KINDS[name])
    if name != "lapsed before there were lots":
        assert text_of(read(old)) == new


@pytest.mark.parametrize("name", VERSION_0)
def test_what_is_written_is_of_the_schema(name: str) -> None:
    SCHEMA.validate(json.loads(text_of(read(VERSION_0[name]))))
    for broken in ({}, {"v": 2}, {"v": 1, "luck": 7}, {"v": 1, "points": "180"}):
        assert not SCHEMA.is_valid(json.loads(VERSION_0[name]) | broken)


@pytest.mark.parametrize("amount", ["0", "15.00", "0.33", "123456789.123456"])
def test_calculating_writes_what_writing_does(amount: str) -> None:
    points, text = worth(amount, rate_of(PublishedCard(SINGAPORE, 7), "food", "wallet", "silver"))
    explanation = read(text)
    assert isinstance(explanation, Calculated)
    assert (explanation.amount, explanation.points, explanation.entry("tier")) == (amount, points, "silver")
    assert text_of(explanation) == text


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        (changed(v=2), UnknownExplanation, "version 2"),
        (changed(v="1"), UnknownExplanation, "version '1'"),
        (changed(v=True), UnknownExplanation, "version True"),
        (changed(v=None), UnknownExplanation, "version None"),
        (changed(v=-1), UnknownExplanation, "version -1"),
        (b"{}", UnknownExplanation, "a kind that has none of the fields"),
        (b'{"v":1,"points":5,"wheel":"of fortune"}', UnknownExplanation, "a kind that has none of the fields"),
        (b"", UnreadableExplanation, "not JSON"),
        (b"[1]", UnreadableExplanation, "not an object but a list"),
        (changed(points="180"), UnreadableExplanation, "points: Input should be a valid integer, not '180'"),
        (changed(points=180.0), UnreadableExplanation, "points: "),
        (changed(amount=15), UnreadableExplanation, "amount: "),
        (changed(rounding="up"), UnreadableExplanation, "rounding: "),
        (changed(factors=[["tier", "gold"]]), UnreadableExplanation, "factors.0.2: "),
        (b'{"v":1,"spent_by":"acme"}', UnreadableExplanation, "points: Field required (and 2 more)"),
    ],
    ids=repr,
)
def test_what_is_not_known_and_what_is_broken(text: bytes, error: type[AbacusError], why: str) -> None:
    with pytest.raises(error) as refused:
        read(text)
    assert why in str(refused.value)


def test_a_field_more_is_passed_over() -> None:
    assert read(changed(v=1, luck=7)) == read(changed(v=1))


def test_statements_name_fields_that_there_are() -> None:
    named = {*get_args(sql.TextField), *get_args(sql.NumberField)}
    assert named <= {field.name for kind in KINDS.values() for field in fields(kind)}


@pytest.mark.parametrize("version", [{}, {"v": 1}], ids=["version 0", "version 1"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [3], []], ids=str)
async def test_sql_finds_a_factor_by_its_name(pool: Pool, version: dict[str, int], order: list[int]) -> None:
    listed = [LUNCH["factors"][place] for place in order]
    names: tuple[FactorName, ...] = get_args(FactorName)
    columns = ", ".join(sql.factor(name) for name in names)
    facts = ", ".join(sql.factor_of_facts(name) for name in names)
    row = await pool.fetchrow(
        f"select {columns}, {facts} from (select $1::json as explanation) t cross join lateral {sql.FACTS}",
        json.dumps({**version, **LUNCH, "factors": listed}).encode(),
    )
    entries = {name: entry for name, entry, _ in listed}
    assert tuple(row or ()) == tuple(entries.get(name) for name in names) * 2


@pytest.mark.parametrize("explanation", ['{"factors":7}', '{"factors":[[]]}', "{}", "[]", "7", '"text"'])
async def test_sql_finds_no_factor_in_what_has_none(pool: Pool, explanation: str) -> None:
    statement = f"select {sql.factor('tier')}, {sql.text('spent_by')} from (select $1::json as explanation) t"
    assert tuple(await pool.fetchrow(statement, explanation.encode()) or ()) == (None, None)
