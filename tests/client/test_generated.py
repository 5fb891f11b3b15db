"""The blocking client is generated from the awaited one."""

import inspect
from pathlib import Path

import pytest

import generate_sync
from abacus_client import AsyncClient, Client

CASES = [
    ("async def f() -> None:\n    await g()\n", "def f() -> None:\n    g()\n"),
    ("async with AsyncClient() as client:\n    pass\n", "with Client() as client:\n    pass\n"),
    ("async for item in items:  # one by one\n    f(item)\n", "for item in items:  # one by one\n    f(item)\n"),
    ("await asyncio.sleep(1)\n", "time.sleep(1)\n"),
    ("await client.aclose()\n", "client.close()\n"),
    ('x = "to await async answers"\n', 'x = "to await async answers"\n'),
]


@pytest.mark.parametrize(("awaited", "blocking"), CASES)
def test_it_says_the_same_without_awaiting(awaited: str, blocking: str) -> None:
    header, _, code = generate_sync.blocking(awaited).partition("\n")
    assert header.startswith("# Generated from asynchronous.py")
    assert code == blocking


def test_the_committed_file_is_up_to_date_and_an_edited_one_is_noticed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert generate_sync.main(["--check"]) == 0
    edited = tmp_path / "blocking.py"
    one = {generate_sync.SOURCE: edited}
    edited.write_text(generate_sync.TARGET.read_text("utf-8").replace("time.sleep", "print"), "utf-8")
    assert generate_sync.main(["--check"], one) == 1
    assert "blocking.py drifted" in capsys.readouterr().err
    assert generate_sync.main([], one) == 0
    assert generate_sync.main(["--check"], one) == 0


def _methods(client: type) -> dict[str, list[str]]:
    functions = inspect.getmembers(client, inspect.isfunction)
    return {name: list(inspect.signature(each).parameters) for name, each in functions if not name.startswith("_")}


def test_both_clients_have_the_same_methods() -> None:
    awaited = _methods(AsyncClient)
    awaited["close"] = awaited.pop("aclose")
    assert awaited == _methods(Client)
