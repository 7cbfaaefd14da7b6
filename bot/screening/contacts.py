"""E-mail addresses, network addresses and personal pages (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.screening.finding import Finding

_DOT = r"\s?(?:\.|\[dot\]|\(dot\)| dot )\s?"
_SPOKEN_AT = rf" at (?=\w+{_DOT}(?:com|org|net|co|uk|de|fr|edu|gov)\b)"
_EMAIL = re.compile(
    rf"(?<![\w.+\-])[\w.+'\-]{{1,64}}\s?(?:@|\[at\]|\(at\)|\{{at\}}|{_SPOKEN_AT})\s?[\w\-]{{1,63}}(?:{_DOT}[\w\-]{{1,63}}){{1,5}}",
    re.I,
)
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)")
_IPV6 = re.compile(
    r"(?<![\w:.])(?:[0-9a-f]{1,4}:){3,7}(?:[0-9a-f]{1,4}|:)(?![\w:])|(?<![\w:])(?:[0-9a-f]{2}[:\-]){5}[0-9a-f]{2}(?![\w:])",
    re.I,
)
_SECTION = re.compile(r"(?:section|chapter|version|v|article|rule|paragraph|guideline|protocol|§)\.?\s*$", re.I)
_PROFILE = re.compile(
    r"(?:https?://)?(?:www\.)?(?:facebook|instagram|twitter|x|tiktok|linkedin|vk|snapchat|t)\.(?:com|me)/(?!share)[\w./\-?=@]+",
    re.I,
)


def find_contacts(text: str) -> Iterator[Finding]:
    """Yield e-mail addresses, network addresses and pages of a person."""
    for match in _EMAIL.finditer(text):
        yield Finding(*match.span(), "e-mail address")
    for match in _IPV4.finditer(text):
        if all(int(part) < 256 for part in match[0].split(".")) and not _SECTION.search(text[: match.start()][-12:]):
            yield Finding(*match.span(), "network address")
    for match in _IPV6.finditer(text):
        yield Finding(*match.span(), "network address")
    for match in _PROFILE.finditer(text):
        yield Finding(*match.span(), "personal page")
