"""The child's side: it says when it is ready, and ends when the parent is gone.

The parent holds the write end of the child's stdin and never writes to it. However the parent ends, kill -9 included,
the kernel closes that end and the child reads the end of the file. This works on Linux and macOS alike, and unlike a
parent-death signal it does not depend on which of the parent's threads started the child.
"""

import os
import select
import signal

READY = "ready "
"""What the one line that the parent waits for begins with; the rest of the line is the address."""


class Lifeline:
    """The first object that a child makes: its stdout is kept for the ready line, everything else goes to the log
    (stderr).

    Nobody reads the pipe after that line, so a library that prints there would fill it and stop.
    """

    def __init__(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for the parent, which then stops us in order
        self._parent = os.getppid()
        self._ready = os.dup(1)
        os.dup2(2, 1)

    def announce(self, address: str) -> None:
        """Tell the parent that `address` can be used from now on."""
        os.write(self._ready, f"{READY}{address}\n".encode())
        os.close(self._ready)

    def is_cut(self, wait_seconds: float) -> bool:
        """Whether the parent is gone or wants us to end; waits up to this long."""
        readable, _, _ = select.select([0], [], [], wait_seconds)
        # The second question is for a parent that forked: its forks keep the pipe open after it.
        return (bool(readable) and os.read(0, 1) == b"") or os.getppid() != self._parent

    def hold(self) -> None:
        """Come back when the parent is gone."""
        while not self.is_cut(wait_seconds=1.0):
            pass
