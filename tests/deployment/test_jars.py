"""`make services` runs no jar but those whose SHA-256 are listed."""

import hashlib
import re
from pathlib import Path

import pytest

from abacus.core.errors import Refused
from localstack import checksums, java

POM = Path(java.__file__).with_name("pom.xml")
GOOD, BAD = b"a broker", b"something else"


def folder(root: Path, **jars: bytes) -> Path:
    for name, content in jars.items():
        jar = root / "kafka" / f"{name}.jar"
        jar.parent.mkdir(exist_ok=True)
        jar.write_bytes(content)
    (root / "kafka" / "pom.xml").touch()
    return root


def listed(root: Path, *names: str) -> Path:
    digest = hashlib.sha256(GOOD).hexdigest()
    file = root / "jars.sha256"
    file.write_text("".join(f"{digest}  {name}\n" for name in names), encoding="utf-8")
    return file


def test_jars_as_they_are_listed_are_run(tmp_path: Path) -> None:
    names = ("kafka/broker.jar", "kafka/log.jar", "cassandra/other.jar")
    checksums.check(folder(tmp_path, broker=GOOD, log=GOOD), "kafka", listed(tmp_path, *names))


@pytest.mark.parametrize(
    ("jars", "names", "why"),
    [
        ({"broker": BAD}, ["kafka/broker.jar"], "broker.jar has another SHA-256 than"),
        ({"broker": GOOD, "more": GOOD}, ["kafka/broker.jar"], "more.jar is not in"),
        ({"broker": GOOD}, ["kafka/broker.jar", "kafka/log.jar"], "log.jar of .* is not among the jars"),
        ({"broker": GOOD}, ["cassandra/broker.jar"], "has no jar of kafka"),
    ],
    ids=["another content", "one more", "one less", "none listed"],
)
def test_others_are_not(tmp_path: Path, jars: dict[str, bytes], names: list[str], why: str) -> None:
    with pytest.raises(Refused, match=why):
        checksums.check(folder(tmp_path, **jars), "kafka", listed(tmp_path, *names))


def test_a_class_path_is_checked_each_time(tmp_path: Path) -> None:
    """Also where nothing is fetched."""
    jars = folder(tmp_path, broker=BAD)
    (jars / "kafka" / "pom.xml").write_bytes(POM.read_bytes())
    with pytest.raises(Refused, match=r"is not run|is not among"):
        java.class_path(jars, "kafka")


def test_the_list_has_what_the_pom_names() -> None:
    """Whoever changes a version writes the list anew."""
    pom = POM.read_text(encoding="utf-8")
    profiles = re.findall(r"<profile>\s*<id>(\w+)</id>(.*?)</profile>", pom, re.DOTALL)
    assert sorted(name for name, _ in profiles) == list(java.PROFILES)
    names = {line.split()[1] for line in checksums.LIST.read_text(encoding="utf-8").splitlines()}
    for profile, body in profiles:
        for artefact, version in re.findall(r"<artifactId>(.+?)</artifactId>\s*<version>(.+?)</version>", body):
            assert f"{profile}/{artefact}-{version}.jar" in names
