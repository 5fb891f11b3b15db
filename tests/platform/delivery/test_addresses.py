"""The addresses that may be posted to."""

import pytest

from abacus.core.errors import Refused
from abacus.platform.delivery.decide.addresses import checked_url, is_public

ADDRESSES = {
    "8.8.8.8": True,
    "1.1.1.1": True,
    "2606:4700::1111": True,
    "2a00:1450:4001:80b::200e": True,
    "64:ff9b::808:808": True,  # 8.8.8.8 by NAT64
    "0.0.0.0": False,  # noqa: S104  # nobody listens here
    "0.1.2.3": False,
    "10.0.0.1": False,
    "100.64.0.1": False,  # carriers' own
    "100.127.255.255": False,
    "127.0.0.1": False,
    "127.8.8.8": False,
    "169.254.169.254": False,  # where clouds keep credentials
    "172.16.0.1": False,
    "172.31.255.255": False,
    "172.32.0.1": True,
    "192.0.0.9": False,
    "192.0.2.1": False,
    "192.88.99.1": False,
    "192.168.1.1": False,
    "198.18.0.1": False,
    "198.51.100.1": False,
    "203.0.113.1": False,
    "224.0.0.1": False,
    "239.255.255.255": False,
    "240.0.0.1": False,
    "255.255.255.255": False,
    "::": False,
    "::1": False,
    "::8.8.8.8": False,
    "::ffff:127.0.0.1": False,
    "::ffff:8.8.8.8": False,  # no resolver answers so for a name
    "64:ff9b::7f00:1": False,
    "64:ff9b::a00:1": False,
    "64:ff9b:1::808:808": False,
    "100::1": False,
    "2001::1": False,
    "2001:db8::1": False,
    "2002:7f00:1::1": False,
    "2002:808:808::1": False,
    "3fff::1": False,
    "5f00::1": False,
    "fc00::1": False,
    "fd12:3456::1": False,
    "fe80::1": False,
    "fe80::1%eth0": False,
    "fec0::1": False,
    "ff02::1": False,
    "ff0e::1": False,
    "": False,
    "example.com": False,
    "2130706433": False,
    "127.1": False,
}


@pytest.mark.parametrize(("address", "outcome"), ADDRESSES.items())
def test_which_addresses_are_public(address: str, outcome: object) -> None:
    assert is_public(address) is outcome


HTTPS = "an address of the form https://host/path is needed"
URLS = [
    ("https://hooks.example", False, None),
    ("https://hooks.example:8443/abacus?x=1", False, None),
    ("https://8.8.8.8/", False, None),
    ("http://hooks.example/", False, f"{HTTPS}, unless ABACUS_WEBHOOKS_TO_PRIVATE is true"),
    ("http://127.0.0.1:8000/", False, f"{HTTPS}, unless ABACUS_WEBHOOKS_TO_PRIVATE is true"),
    ("https://10.0.0.1/", False, "which is needed unless ABACUS_WEBHOOKS_TO_PRIVATE is true"),
    ("http://hooks.example/", True, None),
    ("http://127.0.0.1:8000/", True, None),
    ("https://127.0.0.1/", False, "127.0.0.1 is not an address of the public internet"),
    ("https://[::1]:80/", False, "::1 is not an address of the public internet"),
    ("https://[::1]:80/", True, None),
    ("ftp://hooks.example/", True, HTTPS),
    ("https:///path", False, HTTPS),
    ("hooks.example", False, HTTPS),
    ("https://hooks.example:0/", False, HTTPS),
    ("https://hooks.example:99999/", False, "Port out of range"),
    ("https://[::1/", False, "Invalid IPv6"),
    ("https://user:pass@hooks.example/", False, "leave out user"),
    ("https://hooks.example/#part", False, "leave out user"),
    ("https://hooks.example/a b", False, "no spaces"),
    ("https://hooks.example/\r\nX: y", False, "no spaces"),
    ("https://bücher.example/", False, "ASCII"),
    ("https://hooks.example/" + "x" * 2000, False, "up to 2000"),
]


@pytest.mark.parametrize(("url", "to_private", "fault"), URLS)
def test_which_urls_are_taken(url: str, to_private: bool, fault: str | None) -> None:  # noqa: FBT001  # a table's column
    if fault is None:
        assert checked_url(url, to_private=to_private) == url
    else:
        with pytest.raises(Refused, match=fault):
            checked_url(url, to_private=to_private)
