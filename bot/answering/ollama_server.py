"""Where Ollama may be, and which of its models may answer (pure, but for looking a name up).

Nothing leaves the organisation's machines: the address must be a private one, models that run elsewhere are
refused, and where a list of approved models is set nothing else answers.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from retrieval.errors import ServiceAway, SettingError

EXAMPLE = 'ollama.url = "http://127.0.0.1:11434"'

# Loopback, the private ranges of RFC 1918 and RFC 4193, and link-local. Python's `is_private` also holds
# documentation and reserved ranges, which belong to no one's own network.
_PRIVATE = tuple(
    map(
        ipaddress.ip_network,
        (
            "127.0.0.0/8",
            "10.0.0.0/8",
            "172.16.0.0/12",
            "192.168.0.0/16",
            "169.254.0.0/16",
            "::1/128",
            "fc00::/7",
            "fe80::/10",
        ),
    )
)

Resolve = Callable[[str], Sequence[str]]
"""Looks a host name up: its addresses, or OSError."""


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model as Ollama lists it.

    Attributes:
        digest: SHA-256 of its manifest, in hex without a prefix.
        remote: where it really runs; "" for a local one.
        context_tokens: of a loaded model; 0 where it is not told.
    """

    name: str
    digest: str = ""
    remote: str = ""
    context_tokens: int = 0


def resolve(host: str) -> Sequence[str]:
    """Look a host name up."""
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)]


def is_private(address: str) -> bool:
    """Tell whether an IP address is loopback, private or link-local; an IPv4 one in IPv6 dress counts as IPv4."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is not None:
        parsed = parsed.ipv4_mapped
    return any(parsed in network for network in _PRIVATE if network.version == parsed.version)


def base_url(url: str) -> str:
    """Return an address with its scheme; one without gets http, and Ollama's own port where it names none."""
    if "://" in url:
        return url.rstrip("/")
    host, slash, path = url.partition("/")
    port = "" if ":" in host.rpartition("]")[2] else ":11434"
    return f"http://{host}{port}{slash}{path}".rstrip("/")


def check_address(url: str, resolve: Resolve = resolve) -> None:
    """Make sure that Ollama's address is one of the organisation's own.

    Every address that the name stands for must be private.

    Raises:
        SettingError: it is no http address, carries a password, or is or may be a public one.
        ServiceAway: the name cannot be looked up now.
    """
    try:
        parts = urlsplit(base_url(url))
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise SettingError(f"ollama.url: {url!r} is not an address. For example: {EXAMPLE}") from None
    if parts.username or parts.password:
        raise SettingError(f"ollama.url: must not carry a user name or password. For example: {EXAMPLE}")
    if parts.scheme not in ("http", "https") or not host:
        raise SettingError(f"ollama.url: {url!r} is not an http or https address. For example: {EXAMPLE}")
    try:
        addresses = [str(ipaddress.ip_address(host.partition("%")[0]))]
    except ValueError:
        try:
            addresses = list(resolve(host))
        except (OSError, UnicodeError):
            raise ServiceAway(f"ollama.url: the host {host!r} cannot be found. Check its name.") from None
    public = [address for address in addresses if not is_private(address)]
    if public or not addresses:
        stands_for = "" if public == [host] else f" (it stands for {', '.join(public) or 'no address'})"
        raise SettingError(
            f"ollama.url: {host}{stands_for} is not a private address. Questions and guidelines must not leave your "
            f"own machines; run Ollama on this one or in your own network. For example: {EXAMPLE}"
        )


def full_name(name: str) -> str:
    """Return a model's name with its tag, as Ollama lists it: 'llama3' is 'llama3:latest'."""
    name = name.strip().casefold()
    return name if ":" in name.rsplit("/", 1)[-1] else f"{name}:latest"


def is_cloud(name: str) -> bool:
    """Tell whether a model's name says that it runs on somebody else's machines."""
    base, _, tag = full_name(name).rpartition(":")
    return base.endswith("-cloud") or tag == "cloud" or tag.endswith("-cloud")


def is_approved(name: str, digest: str, approved: Sequence[str]) -> bool:
    """Tell whether a model may answer.

    Args:
        name: of the model.
        digest: in hex, "" while it is not known.
        approved: names, and digests or their first 12 or more hexadecimal digits, with or without `sha256:`. Where
            both are given for a model, either is enough. Empty: every model may.
    """
    if not approved:
        return True
    known = _hex(digest)
    for entry in approved:
        wanted = _hex(entry)
        if wanted is None:
            if full_name(entry) == full_name(name):
                return True
        elif known and known.startswith(wanted):
            return True
    return False


def names_only(approved: Sequence[str]) -> bool:
    """Tell whether a list of approved models holds no digest, so that a name alone decides."""
    return all(_hex(entry) is None for entry in approved)


def entries(listing: Any) -> list[ModelEntry]:
    """Read the answer of /api/tags or /api/ps; what has another shape than it should is left out."""
    models = listing.get("models") if isinstance(listing, Mapping) else None
    found = []
    for model in models if isinstance(models, list) else ():
        if not isinstance(model, Mapping):
            continue
        name = model.get("name") or model.get("model")
        if not isinstance(name, str) or not name:
            continue
        context = model.get("context_length")
        found.append(
            ModelEntry(
                full_name(name),
                str(model.get("digest") or "").removeprefix("sha256:"),
                str(model.get("remote_host") or model.get("remote_model") or ""),
                context if isinstance(context, int) else 0,
            )
        )
    return found


def _hex(text: str) -> str | None:
    """Return the digits of a digest or of a long enough beginning of one; None for anything else, as a name."""
    digits = text.strip().casefold()
    marked = digits.startswith("sha256:")
    digits = digits.removeprefix("sha256:")
    if len(digits) < 12 or any(digit not in "0123456789abcdef" for digit in digits):
        # "sha256:" with too little behind it approves nothing, rather than a model of that name.
        return "-" if marked else None
    return digits
