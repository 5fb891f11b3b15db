"""The known answers, and what has to hold for all terms."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.exchanges.decide.terms import Ratio, Terms, UnfitAmount, by_points, by_target
from tests.support.paths import GOLDEN

CASES = json.loads((GOLDEN / "exchanges.json").read_text("utf-8"))["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_known_answer(case: dict[str, Any]) -> None:
    terms = Terms(Ratio(*case["ratio"]), case["minimum"], case["multiple"], case["maximum"])
    [(by, amount)] = case["asked"].items()
    ask = by_points if by == "points" else by_target
    if case["refused"] is not None:
        with pytest.raises(UnfitAmount) as refused:
            ask(terms, amount)
        assert refused.value.unfit == case["refused"]
        return
    assert ask(terms, amount) == (case["debit"], case["credit"])


terms_of = st.builds(
    lambda give, get, multiple, minimum, span: Terms(Ratio(give, get), minimum, multiple, minimum + span),
    st.integers(1, 1000),
    st.integers(1, 1000),
    st.integers(1, 500),
    st.integers(1, 5000),
    st.integers(0, 10**6),
)


@given(terms=terms_of, asked=st.integers(0, 10**6))
def test_what_is_taken_buys_the_credit_and_no_fewer_points_would(terms: Terms, asked: int) -> None:
    for ask in (by_points, by_target):
        try:
            debit, credit = ask(terms, asked)
        except UnfitAmount:
            continue
        assert terms.minimum <= debit <= terms.maximum
        assert debit % terms.multiple == 0
        assert terms.credit_for(debit) >= credit >= 1
        fewer = debit - terms.multiple
        assert fewer < terms.minimum or terms.credit_for(fewer) < credit
        assert debit <= asked if ask is by_points else credit >= asked
