"""Parts of documents that were judged before."""

from collections.abc import Mapping
from typing import Any

from abacus.core.fields import Fault, Fields, whole
from abacus.documents.decide.equal_parts import EqualParts

BENEFIT: Mapping[str, Any] = {"percent": 10, "cap": 5}


class Reading:
    """Reads the benefits of documents, and counts how often it has to."""

    def __init__(self) -> None:
        self.parts = EqualParts()
        self.count = 0
        self.faults: list[Fault] = []

    def of(self, document: Mapping[str, Any], most: int = 100) -> int:
        top = Fields(document, "", self.faults)
        read = self.parts.read(top, "benefit", self._percent, most)
        top.refuse_unknown()
        return read

    def _percent(self, top: Fields, most: int) -> int:
        self.count += 1
        table = top.table("benefit", optional=True)
        table.read_if_there("cap", whole(1, most), 0)
        return table.read_if_there("percent", whole(1, most), 0)


def test_equal_parts_are_read_once() -> None:
    reading = Reading()
    told = [reading.of({"benefit": dict(BENEFIT)}) for _ in range(3)]
    assert (told, reading.count, reading.faults) == ([10, 10, 10], 1, [])
    assert [reading.of({}), reading.of({}), reading.of({"benefit": {}})] == [0, 0, 0]
    assert reading.count == 3, "a part that is not there is not a part that is empty"


def test_what_a_reader_is_given_counts() -> None:
    reading = Reading()
    assert [reading.of({"benefit": BENEFIT}), reading.of({"benefit": BENEFIT}, 10)] == [10, 10]
    assert reading.count == 2


def test_a_fault_is_noted_each_time() -> None:
    reading = Reading()
    for _ in range(2):
        assert reading.of({"benefit": {"percent": 101}}) == 0
    assert [each.path for each in reading.faults] == ["benefit.percent"] * 2
    assert reading.of({"benefit": BENEFIT}) == 10
