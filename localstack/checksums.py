"""The jars that are run are those whose SHA-256 stand in `jars.sha256`, whatever a repository of artefacts gives out.

python -m localstack.checksums      write the list anew, after a change of pom.xml: read the difference before it is
                                    committed
sha256sum --check jars.sha256       the same check by hand, in the folder of the jars
"""

import hashlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from abacus.core.errors import Refused

LIST: Final = Path(__file__).with_name("jars.sha256")


def check(jars: Path, profile: str, listed: Path = LIST) -> None:
    """Raises `Refused` unless the jars of a profile are those of the list: each of them, unchanged, and no other."""
    expected = {name: digest for name, digest in _read(listed).items() if name.startswith(f"{profile}/")}
    found = _digests(jars, profile)
    if not expected:
        raise Refused(f"{listed} has no jar of {profile}")
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            raise Refused(f"{name} of {listed} is not among the jars that Maven fetched")
        if name not in expected:
            raise Refused(f"{jars / name} is not in {listed}: it is not run")
        if found[name] != expected[name]:
            raise Refused(f"{jars / name} has another SHA-256 than {listed} says, {found[name]}: it is not run")


def _read(listed: Path) -> Mapping[str, str]:
    lines = (line.split(maxsplit=1) for line in listed.read_text(encoding="utf-8").splitlines())
    return {name: digest for digest, name in lines}


def _digests(jars: Path, profile: str) -> Mapping[str, str]:
    return {
        jar.relative_to(jars).as_posix(): hashlib.sha256(jar.read_bytes()).hexdigest()
        for jar in sorted((jars / profile).rglob("*.jar"))
    }


def main() -> int:
    from localstack.java import PROFILES, fetch  # noqa: PLC0415  # it asks this module to check
    from localstack.services import HOME  # noqa: PLC0415  # as above

    lines: list[str] = []
    for profile in PROFILES:
        fetch(HOME / "jars", profile)
        lines += [f"{digest}  {name}\n" for name, digest in _digests(HOME / "jars", profile).items()]
    LIST.write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
