"""Secrets at rest: stored texts, readable ones, and the message for the others."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abacus.platform.encryption import Encrypted, Keyring, SecretPlace, Secrets, SecretUnreadable, new_keyring_text

OLD, NEW = (f"{name}:{base64.b64encode(name.encode() * 16).decode()}" for name in ("k1", "k2"))
ACME, BITS = SecretPlace("partner", "signing_secret", "acme"), SecretPlace("partner", "signing_secret", "bits")


async def test_what_is_stored_tells_nothing_and_is_read_again() -> None:
    secrets = Secrets.of(OLD)
    stored = [await secrets.to_store("abs_secret", ACME) for _ in range(2)]
    assert all(re.fullmatch(r"enc:v1:k1:[A-Za-z0-9+/]+=*", each) for each in stored)
    assert stored[0] != stored[1]  # equal secrets are not seen to be equal
    assert [await secrets.read(each, ACME) for each in stored] == ["abs_secret"] * 2
    assert "abs_secret" not in stored[0]


@given(st.text(max_size=50), st.text(max_size=20))
async def test_any_secret_is_read_as_it_was(secret: str, row: str) -> None:
    secrets = Secrets.of(NEW)
    place = SecretPlace("webhook", "secret", row.encode(errors="replace").decode())
    encodable = secret.encode(errors="replace").decode()
    assert await secrets.read(await secrets.to_store(encodable, place), place) == encodable


async def test_the_first_key_encrypts_and_every_key_decrypts() -> None:
    before, rotating, after = Secrets.of(OLD), Secrets.of(f"{NEW}, {OLD}"), Secrets.of(NEW)
    old = await before.to_store("s", ACME)
    new = await rotating.to_store(await rotating.read(old, ACME), ACME)
    assert await after.read(new, ACME) == "s"
    assert [each.is_current(old) for each in (before, rotating, after)] == [True, False, False]
    assert [each.is_current(new) for each in (before, rotating, after)] == [False, True, True]


async def test_without_a_key_secrets_are_stored_as_they_are_and_stay_readable_with_one() -> None:
    plain = Secrets()
    assert (plain.encrypts, await plain.to_store("abs_s", ACME)) == (False, "abs_s")
    assert await plain.read("abs_s", ACME) == await Secrets.of(OLD).read("abs_s", ACME) == "abs_s"
    assert not Secrets.of(OLD).is_current("abs_s")


async def test_what_cannot_be_read_is_said_in_one_line() -> None:
    stored = await Secrets.of(OLD).to_store("abs_s", ACME)
    forged = f"{stored[:-8]}AAAAAAA="
    for secrets, text, place, line in (
        (
            Secrets(),
            stored,
            ACME,
            "signing_secret of acme (partner) cannot be read: ABACUS_SECRETS_KEY is not set; it needs",
        ),
        (Secrets.of(NEW), stored, ACME, "ABACUS_SECRETS_KEY has no key 'k1'"),
        (Secrets.of(new_keyring_text("k1")), stored, ACME, "it was not encrypted for this place under the key 'k1'"),
        (
            Secrets.of(OLD),
            stored,
            BITS,
            "signing_secret of bits (partner) cannot be read: it was not encrypted for this",
        ),
        (Secrets.of(OLD), stored, ACME._replace(column="former_secret"), "it was not encrypted for this place"),
        (Secrets.of(OLD), forged, ACME, "it was not encrypted for this place"),
        (Secrets.of(OLD), "enc:v1:k1:%%%", ACME, "it is damaged"),
        (Secrets.of(OLD), "enc:v1:k1:", ACME, "it was not encrypted for this place"),
        (Secrets.of(OLD), "enc:v1:", ACME, "ABACUS_SECRETS_KEY has no key ''"),
    ):
        with pytest.raises(SecretUnreadable, match=re.escape(line)) as fault:
            await secrets.read(text, place)
        assert "\n" not in str(fault.value)
        assert "abs_s" not in str(fault.value)


async def test_any_service_with_keys_will_do() -> None:
    """A cipher as a KMS is one: it holds the keys, and gets the context with each call."""

    class Far:
        key_id = "arn"

        async def encrypt(self, plaintext: bytes, context: bytes) -> Encrypted:
            return Encrypted("arn", plaintext[::-1] + b"|" + context)

        async def decrypt(self, encrypted: Encrypted, context: bytes) -> bytes:
            assert encrypted.ciphertext.endswith(b"|" + context)
            return encrypted.ciphertext.removesuffix(b"|" + context)[::-1]

    secrets = Secrets(Far())
    assert await secrets.read(await secrets.to_store("abs_s", ACME), ACME) == "abs_s"


SHORT = base64.b64encode(b"x" * 31).decode()


@pytest.mark.parametrize(
    "text",
    ["", "k1", "k1:", f"k1:{SHORT}", "k1:not base64", OLD.partition(":")[2], f"{OLD},{OLD}", f"{OLD},", "k 1:A="],
)
def test_a_setting_that_holds_no_keys(text: str) -> None:
    with pytest.raises(ValueError, match="each KEY 32 bytes in base64") as fault:
        Keyring.parse(text)
    assert not text or text not in str(fault.value)
