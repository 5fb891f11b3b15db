"""The process in which templates are rendered, within limits of time and memory; `renderer.py` starts and ends it.

It reads frames of renderings from its standard input and writes a line for each to its standard output, in their order.
A template that takes too long ends the process: the kernel counts its time of the processor.
"""

import os
import pickle
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from abacus.engage.notify.decide.template import FilledTemplate, Unrenderable, Unwritten, rendered, written

READY: Final = b"ready\n"
LENGTH_BYTES: Final = 4
_PAGES: Final = Path("/proc/self/statm")


def main(cpu_s: float, memory: int) -> None:
    _limit(memory)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    out = sys.stdout.buffer
    _write(out, READY)
    for is_trial, renderings in _frames(sys.stdin.buffer):
        for each in renderings:
            signal.setitimer(signal.ITIMER_PROF, cpu_s)
            answer = _answer(each, is_trial=is_trial)
            signal.setitimer(signal.ITIMER_PROF, 0)
            _write(out, orjson.dumps(answer) + b"\n")


def _answer(rendering: FilledTemplate, *, is_trial: bool) -> dict[str, str]:
    try:
        if is_trial:
            written(rendering)
        return rendered(rendering)._asdict()
    except Unrenderable as fault:
        return {"fault": str(fault), "kind": "unwritten" if isinstance(fault, Unwritten) else "unrenderable"}


def _frames(source: BinaryIO) -> Iterator[tuple[bool, list[FilledTemplate]]]:
    """Until the other side ends."""
    while len(header := source.read(LENGTH_BYTES)) == LENGTH_BYTES:
        yield pickle.loads(source.read(int.from_bytes(header)))  # noqa: S301  # of the process that started this one


def _limit(memory: int) -> None:
    """So much more memory than it has by now, no file to write, and no picture of it when it is killed."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if _PAGES.exists():
        has = int(_PAGES.read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
        resource.setrlimit(resource.RLIMIT_AS, (has + memory, has + memory))


def _write(out: BinaryIO, line: bytes) -> None:
    out.write(line)
    out.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
