"""The stage that a profiler's sample belongs to."""

import pytest

from benchmarks.cpu_cost import Run, together
from benchmarks.profile import REST, STAGES, Sample, samples_of, stage_of

_LOOP = "Runner.run (asyncio/runners.py:118)"
_HANDLE = "StreamCalculator.handle (abacus/intake/earning/calculator.py:45)"


@pytest.mark.parametrize(
    ("worker", "inside", "stage"),
    [
        ("calculator", [], REST),
        ("calculator", [_HANDLE], "put together"),
        (
            "calculator",
            [_HANDLE, "read_transaction (abacus/intake/earning/decide/transaction.py:1)"],
            "read and check the message",
        ),
        (
            "calculator",
            [
                _HANDLE,
                "Calculator.award (abacus/intake/earning/decide/calculate.py:1)",
                "Completed.fingerprint (abacus/intake/earning/decide/transaction.py:9)",
            ],
            "calculate and explain",
        ),
        ("calculator", [_HANDLE, "encode_award (abacus/ledger/types/award_envelope.py:2)"], "encode and pack"),
        ("awarder", ["Awarder.handle (abacus/intake/awarding/awarder.py:1)"], "put together"),
        (
            "awarder",
            [
                "plan (abacus/ledger/decide/batch.py:1)",
                "apply (abacus/ledger/decide/transfer.py:3)",
                "chain (abacus/ledger/decide/transfer.py:9)",
            ],
            "hash",
        ),
        ("awarder", ["plan (abacus/ledger/decide/batch.py:1)", "apply (abacus/ledger/decide/transfer.py:3)"], "decide"),
        (
            "relay",
            ["StreamPublisher.publish (abacus/platform/kafka/publisher.py:1)", "murmur2 (aiokafka/partitioner.py:7)"],
            "choose the partition",
        ),
    ],
)
def test_a_look_belongs_to_the_innermost_frame_that_names_a_stage(worker: str, inside: list[str], stage: str) -> None:
    assert stage_of([_LOOP, *inside], STAGES[worker]) == stage


def test_what_py_spy_writes_is_read() -> None:
    assert list(samples_of(["a (x.py:1);b c (y.py:2) 17"])) == [Sample(["a (x.py:1)", "b c (y.py:2)"], 17)]


def test_runs_together_weigh_by_what_they_did() -> None:
    whole = together([Run(100, 1.0, {"relay": 0.001}), Run(300, 2.0, {"relay": 0.003, "awarder": 0.02})])
    assert (whole.done, whole.seconds) == (400, 3.0)
    assert whole.us_of("relay") == pytest.approx(10.0)
    assert whole.cpu_us == pytest.approx(60.0)
