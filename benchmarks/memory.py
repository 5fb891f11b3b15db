"""The memory of a process, as the system counts it."""

from pathlib import Path


def most_mib(pid: int | None = None) -> int:
    """The most that the process has had, or this one; `getrusage` would tell that of the process which started this
    one, if it had more.
    """
    return _mib(pid, "VmHWM")


def mib(pid: int) -> int:
    """What the process has now."""
    return _mib(pid, "VmRSS")


def _mib(pid: int | None, field: str) -> int:
    text = Path(f"/proc/{pid or 'self'}/status").read_text(encoding="utf-8")
    return int(dict(line.split(":", 1) for line in text.splitlines())[field].split()[0]) // 1024
