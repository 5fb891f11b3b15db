"""Java programs from their Maven artefacts."""

import shutil
import subprocess
import sys
from pathlib import Path

from abacus.core.errors import Refused, Unavailable
from localstack import checksums

PROFILES = ("cassandra", "elasticmq", "kafka")
_POM = Path(__file__).with_name("pom.xml")
_FETCH_SECONDS = 900
_TAIL_LINES = 5


def class_path(jars: Path, profile: str) -> str:
    """The jars of a profile of `pom.xml`: fetched once, and again when that file changes. Raises `Refused` when they
    are not the jars whose checksums are listed.
    """
    made_from = jars / profile / "pom.xml"
    if not made_from.exists() or made_from.read_bytes() != _POM.read_bytes():
        fetch(jars, profile)
    checksums.check(jars, profile)
    return f"{jars / profile}/*"


def fetch(jars: Path, profile: str) -> None:
    """As Maven gives them: nobody has looked at their checksums yet."""
    target = jars / profile
    shutil.rmtree(target, ignore_errors=True)
    sys.stderr.write(f"fetching {profile} with Maven\n")
    options = ("--batch-mode", "--quiet", "--strict-checksums", "--file", str(_POM), "--activate-profiles", profile)
    outcome = subprocess.run(  # noqa: S603  # Maven, with what pom.xml names
        [program("mvn"), *options, "dependency:copy-dependencies", f"-DoutputDirectory={target}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=_FETCH_SECONDS,
    )
    if outcome.returncode != 0:
        said = " ".join(outcome.stdout.strip().splitlines()[:_TAIL_LINES])
        raise Unavailable("Maven", f"it ended with code {outcome.returncode}: {said}")
    shutil.copyfile(_POM, target / "pom.xml")


def program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise Refused(
            f"there is no `{name}` on the path: the services need Java 17 (Cassandra no newer one), and Maven"
        )
    return path
