"""Where Ollama may be, and which models may answer."""

from __future__ import annotations

import pytest

from bot.answering.ollama_server import (
    base_url,
    check_address,
    entries,
    full_name,
    is_approved,
    is_cloud,
    is_private,
)
from retrieval.errors import ServiceAway, SettingError

DIGEST = "46e0c10c039e019119339687c3c1757cc81b9da49709a3b3924863ba87ca666e"


def nowhere(host: str) -> list[str]:
    raise OSError("no such host")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.8.8",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.9",
        "169.254.1.1",
        "::1",
        "fd00::1",
        "fe80::1%eth0",
        "::ffff:10.0.0.1",
    ],
)
def test_private_addresses_are_private(address):
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "172.32.0.1",
        "172.15.0.1",
        "192.169.0.1",
        "0.0.0.0",
        "203.0.113.5",
        "100.64.0.1",
        "224.0.0.1",
        "2001:4860:4860::8888",
        "::ffff:8.8.8.8",
        "::",
        "not an address",
        "",
    ],
)
def test_all_others_are_not(address):
    assert not is_private(address)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:11434",
        "https://10.0.0.5",
        "http://[::1]:11434",
        "http://[fe80::1%25eth0]:1",
        "127.0.0.1:11434",
        "http://169.254.3.3/ollama",
    ],
)
def test_a_private_address_is_accepted_without_looking_anything_up(url):
    check_address(url, nowhere)


@pytest.mark.parametrize("url", ["http://8.8.8.8:11434", "https://[2001:4860:4860::8888]", "http://0.0.0.0:11434"])
def test_a_public_address_is_refused_with_the_setting_and_an_example(url):
    with pytest.raises(SettingError, match=r"ollama\.url: .* is not a private address.*127\.0\.0\.1:11434"):
        check_address(url, nowhere)


@pytest.mark.parametrize(
    "url", ["ftp://127.0.0.1", "http://", "", "http://127.0.0.1:port", "http://[::1", "http://ann:secret@127.0.0.1"]
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(SettingError, match=r"ollama\.url") as error:
        check_address(url, nowhere)
    assert "secret" not in str(error.value)


def test_a_name_is_judged_by_every_address_it_stands_for():
    check_address("http://ollama.lan:11434", lambda _: ["10.0.0.5", "fd00::5"])
    with pytest.raises(SettingError, match=r"203\.0\.113\.5"):
        check_address("http://ollama.lan:11434", lambda _: ["10.0.0.5", "203.0.113.5"])
    with pytest.raises(SettingError):
        check_address("http://ollama.lan:11434", lambda _: [])


def test_an_odd_spelling_of_a_public_address_is_looked_up_like_any_name():
    with pytest.raises(SettingError):
        check_address("http://134744072:11434", lambda _: ["8.8.8.8"])


def test_a_name_that_cannot_be_looked_up_may_be_there_later():
    with pytest.raises(ServiceAway, match=r"ollama\.lan"):
        check_address("http://ollama.lan:11434", nowhere)


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("127.0.0.1:9", "http://127.0.0.1:9"),
        ("[::1]", "http://[::1]:11434"),
        ("[::1]:9/a/", "http://[::1]:9/a"),
        ("https://10.0.0.1/", "https://10.0.0.1"),
    ],
)
def test_an_address_without_a_scheme_gets_http_and_ollamas_port(url, whole):
    assert base_url(url) == whole


@pytest.mark.parametrize("name", ["gpt-oss:120b-cloud", "x-cloud", "kimi:cloud", "KIMI:Cloud", "a/b-cloud:8b"])
def test_a_cloud_model_shows_in_its_name(name):
    assert is_cloud(name)


@pytest.mark.parametrize("name", ["llama3.1:8b", "cloudy:8b", "cloud-nine", "a/cloud/b:8b"])
def test_a_name_that_only_speaks_of_clouds_is_none(name):
    assert not is_cloud(name)


def test_a_name_without_a_tag_means_the_latest():
    assert full_name("Llama3") == "llama3:latest"
    assert full_name("hub.lan:5000/x/llama3") == "hub.lan:5000/x/llama3:latest"
    assert full_name("llama3:8b") == "llama3:8b"


@pytest.mark.parametrize(
    "approved",
    [(), ("llama3.1:8b",), ("LLAMA3.1:8B",), ("other", DIGEST), (f"sha256:{DIGEST}",), (f"sha256:{DIGEST[:12]}",)],
)
def test_approved_by_name_or_digest_or_without_a_list(approved):
    assert is_approved("llama3.1:8b", DIGEST, approved)


@pytest.mark.parametrize(
    "approved", [("llama3.1",), ("llama3.1:70b",), ("sha256:",), (f"sha256:{DIGEST[:8]}",), (f"sha256:{'0' * 12}",)]
)
def test_anything_else_is_not_approved(approved):
    assert not is_approved("llama3.1:8b", DIGEST, approved)


def test_an_unknown_digest_is_approved_by_none():
    assert not is_approved("llama3.1:8b", "", (f"sha256:{DIGEST}",))


@pytest.mark.parametrize("listing", [None, [], "x", {}, {"models": None}, {"models": [1, {}, {"name": ""}]}])
def test_a_listing_of_another_shape_lists_nothing(listing):
    assert entries(listing) == []


def test_a_remote_model_is_seen_by_either_of_its_fields():
    listing = {"models": [{"name": "a", "remote_host": "h"}, {"model": "b", "remote_model": "m"}, {"name": "c"}]}
    assert [bool(entry.remote) for entry in entries(listing)] == [True, True, False]
