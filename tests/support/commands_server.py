"""Commands of `abacus`, each in a fork of one process that has loaded all of them already.

A process of its own spends nine tenths of a command's time on imports. A fork has its caller's arguments, environment,
folder, input and outputs, and ends with the code with which that process would end.

Run as `python -m tests.support.commands_server SOCKET`; it ends with its input.
"""

import asyncio
import gc
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from ctypes import CDLL
from importlib import import_module
from pathlib import Path
from select import select
from typing import Final

from typer import Context
from typer.main import get_command

from abacus.cli.main import Commands, app, main
from tests.support.paths import ROOT

_DIES_WITH_PARENT: Final = 1  # PR_SET_PDEATHSIG
# Stands on the path for the command.
_CALLER: Final = """\
#!{python} -SE
import os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    environment = [f"{{name}}={{value}}" for name, value in os.environ.items()]
    facts = [str(len(sys.argv)), os.getcwd(), *sys.argv[1:], *environment]
    socket.send_fds(server, [b"."], [0, 1, 2])
    server.sendall("\\0".join(facts).encode(errors="surrogateescape"))
    server.shutdown(socket.SHUT_WR)
    sys.exit(int(server.recv(8) or 70))
"""


@asynccontextmanager
async def serving_commands(folder: Path, environment: Mapping[str, str]) -> AsyncIterator[None]:
    """Puts a program `abacus` into the folder, which has its commands run by a server."""
    address = folder / "commands"
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.commands_server", str(address)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
        env=environment,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        assert await asyncio.wait_for(server.stdout.readline(), 60) == b"ready\n"
        program = folder / "abacus"
        program.write_text(_CALLER.format(python=sys.executable, address=str(address)), encoding="utf-8")
        program.chmod(0o755)
        yield
    finally:
        server.stdin.close()
        await server.wait()


def _serve(listener: socket.socket) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    while True:
        ready, _, _ = select([listener.fileno(), 0], [], [])
        if 0 in ready:
            return
        caller, _ = listener.accept()
        with caller:
            if os.fork() == 0:
                _run(caller)


def _run(caller: socket.socket) -> None:
    """In the fork: become the caller, run its command and tell it the code."""
    code: object = 1
    try:
        if sys.platform == "linux":
            CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGTERM)  # what runs on until somebody stops it
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _, streams, _, _ = socket.recv_fds(caller, 1, 3)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        facts = b"".join(iter(lambda: caller.recv(65536), b"")).decode(errors="surrogateescape").split("\0")
        count = int(facts[0])
        os.chdir(facts[1])
        sys.argv = ["abacus", *facts[2 : count + 1]]
        os.environ.clear()
        os.environ.update({name: value for name, _, value in (each.partition("=") for each in facts[count + 1 :])})
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except Exception:  # noqa: BLE001  # as the interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        caller.sendall(str(code).encode())
        os._exit(0)


def _load_all() -> None:
    commands = get_command(app)
    assert isinstance(commands, Commands)
    context = Context(commands)
    for name in commands.list_commands(context):
        commands.get_command(context, name)
    for module in ("aioboto3", "aiokafka", "uvloop"):
        import_module(module)


if __name__ == "__main__":
    gc.disable()
    _load_all()
    gc.freeze()
    gc.enable()
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(sys.argv[1])
        opened.listen()
        os.write(1, b"ready\n")
        _serve(opened)
