"""The environment of the tests is walked through as it was when the walk began."""

import os


def test_a_name_that_is_taken_away_amid_a_walk_is_still_told() -> None:
    names = ("ABACUS_ONE", "ABACUS_OTHER")
    os.environ.update(dict.fromkeys(names, "here"))
    found = {}
    for name, value in os.environ.items():
        for each in names:
            os.environ.pop(each, None)
        found[name] = value
    assert [found[each] for each in names] == ["here", "here"]
    assert not set(names) & os.environ.keys()
