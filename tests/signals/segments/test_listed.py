"""Lists of members as people paste them: one on each line, or CSV with a column of members."""

import pytest

from abacus.signals.segments.decide.listed import listed

pytestmark = pytest.mark.once


@pytest.mark.parametrize(
    ("text", "members", "again", "bad"),
    [
        ("", [], 0, []),
        ("ann", ["ann"], 0, []),
        ("ann\r\nbob\r\n", ["ann", "bob"], 0, []),
        ("  ann \n\n\tbob\n ann\n", ["ann", "bob"], 1, []),
        ("ann\nbob lee, the second\n", ["ann", "bob lee, the second"], 0, []),
        ("member_id\nann\nbob\n", ["ann", "bob"], 0, []),
        ("\ufeffmember_id\nann", ["ann"], 0, []),
        ("country, member_id ,tier\nSG,ann,gold\nSG,'=bob,gold\n", ["ann", "=bob"], 0, []),
        ('member_id\n"ann, the first"\n"ann, the first"\n', ["ann, the first"], 1, []),
        ("member_id,tier\nann,gold\nbob\n\ncid,gold", ["ann", "cid"], 0, [3]),
        ("member_id\n\n\nann", ["ann"], 0, []),
        ("country,customer\nSG,ann\n", [], 0, [1]),
        ("ann\nb\x07b\n" + "x" * 129, ["ann"], 0, [2, 3]),
        ('member_id,tier\n"ann"x,gold\nbob,gold\n', ["bob"], 0, [2]),
    ],
)
def test_a_list_has_each_member_once(text: str, members: list[str], again: int, bad: list[int]) -> None:
    found = listed(text)
    assert (list(found.members), found.again, [each.line for each in found.bad]) == (members, again, bad)
