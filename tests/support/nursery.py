"""The nursery: a process that has imported the program and forks one for each request.

Each child is a process of its own that runs `abacus …` from its command line on. Only the seconds that imports take are
saved; on a busy machine a worker that is killed would otherwise be away for longer than it works. The children end when
its standard input is closed. Run as a program, with the requests on its standard input, a line each.
"""

import gc
import importlib
import json
import os
import select
import signal
import sys
from contextlib import suppress
from typing import Any, Final, NoReturn

from workers import WORKERS

_USED: Final = (
    "abacus.cli.main",
    *(f"abacus.cli.{command}" for command in ("house.queues", "house.worker", "ledger.reconcile", "ledger.slices")),
    *(f"workers.{name}" for name in WORKERS),
    *("aioboto3", "aiobotocore.config", "aiokafka.admin", "anyio._backends._asyncio", "httpcore"),
    "tests.support.moved_clock",
)
_LOOK_EVERY_S: Final = 0.05
_LARGEST_READ: Final = 1 << 20


def main() -> None:
    gc.disable()  # there is no garbage among imports
    for name in _USED:
        importlib.import_module(name)
    with suppress(ImportError):  # it is not on every platform
        importlib.import_module("uvloop")
    gc.freeze()  # a child that looks for garbage would else copy all of it
    gc.enable()
    children: set[int] = set()
    rest = b""
    while True:
        if select.select([sys.stdin], [], [], _LOOK_EVERY_S)[0]:
            read = os.read(sys.stdin.fileno(), _LARGEST_READ)
            if not read:
                break
            *lines, rest = (rest + read).split(b"\n")
            for line in lines:
                children.add(_give_birth(json.loads(line)))
        _bury(children)
    for pid in children:
        os.kill(pid, signal.SIGKILL)


def _bury(children: set[int]) -> None:
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        children.discard(pid)
        _tell(ended=pid, code=os.waitstatus_to_exitcode(status))


def _give_birth(request: dict[str, Any]) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        _live(request)
    _tell(born=request["name"], pid=pid)
    return pid


def _live(request: dict[str, Any]) -> NoReturn:
    code = 1
    try:
        for descriptor, path in ((1, request["out"]), (2, request["log"])):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644), descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.argv = ["abacus", *request["arguments"]]
        if request["clock"]:
            importlib.import_module("tests.support.moved_clock").go_by(request["clock"])
        importlib.import_module("abacus.cli.main").main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else bool(end.code)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _tell(**what: object) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
