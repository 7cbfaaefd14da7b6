"""Dates of birth (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.screening.finding import Finding

KIND = "date of birth"

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary|uary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE = (
    r"(?:\d{1,2}\s?[/.\-\\]\s?\d{1,2}\s?[/.\-\\]\s?(?:\d{4}|'?\d{2})"
    r"|\d{4}\s?[/.\-]\s?\d{1,2}\s?[/.\-]\s?\d{1,2}"
    r"|\d{1,2} \d{1,2} (?:19|20)\d{2}"
    rf"|{_DAY}(?:\s+of)?[\s\-/.]*{_MONTH}[,\s\-/.]*(?:\d{{4}}|'?\d{{2}})"
    rf"|{_MONTH}[\s\-/]*{_DAY},?[\s\-/]+(?:\d{{4}}|'\d{{2}})"
    rf"|\d{{4}}[\s\-/]+{_MONTH}[\s\-/]+{_DAY}"
    r"|(?:0[1-9]|[12]\d|3[01])(?:0[1-9]|1[0-2])(?:19|20)\d{2}"
    r"|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
)
_SHORT_DATE = rf"(?:{_DAY}\s+(?:of\s+)?{_MONTH}|{_MONTH}\s+{_DAY}|\d{{1,2}}[/.]\d{{1,2}}|\d{{6}})"
_CUE = (
    r"(?<![a-z])(?:d[\s.]?o[\s.]?b\.?|date\s+of\s+b\w{3,4}|birth\s?-?\s?dates?|b-?days?|birthdays?|born|birth|"
    r"geb(?:oren|\.)?(?:\s+am)?|geburtsdatum|n[ée]+\s+le|nacid[oa](?:\s+el)?|nat[oa]\s+il|date\s+de\s+naissance|"
    r"fecha\s+de\s+nacimiento)(?![a-z])"
)
_LINK = r"(?:\s|is|was|on|the|in|of|a|:|=|,|-|\(|\[|\"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)*"
_AFTER_CUE = re.compile(rf"{_CUE}{_LINK}(?P<value>{_DATE}|{_SHORT_DATE}(?![/.]?\d))(?!\d)", re.I)
_BEFORE_CUE = re.compile(rf"(?<!\d)(?P<value>{_DATE})\s*[,)(\-]*\s*(?:d\.?o\.?b\b|birth\s?da|\(?born\b)", re.I)
_B_DOT = re.compile(rf"(?:(?<![\w.])b\.?|\*)\s?(?P<value>{_DATE})(?!\d)", re.I)
_INITIALS = re.compile(
    rf"(?<![\w.])(?P<value>(?:[A-Z]\.?\s?){{2,3}}(?<![a-z]),?\s*[(\-]?\s*(?i:{_DATE}))(?!\d)(?!\s*(?i:to|-|until)\s*\d)"
)
_ANY = re.compile(rf"(?<![\d/.\-])(?P<value>{_DATE})(?![\d/\-]|\.\d)", re.I)
_NEXT = re.compile(rf"[\s,;:(\[\-]{{0,4}}(?P<value>{_DATE})(?![\d/\-])", re.I)
# What is dated by a date that is nobody's birthday.
_DATED = re.compile(
    r"\b(?:guid\w+|version|v|dated?|updat\w+|publi\w+|protocol|policy|edition|effective|issu\w+|review\w*|revis\w+|valid|"
    r"from|since|as\s+(?:at|of)|until|by|expir\w+|accessed|retrieved|copyright|amend\w+|consolidat\w+|adopt\w+|law|act|"
    r"notice|circular|regulations?|between|after|before|on|in|week|w/c|commencing|seen|admi\w+|discharg\w+|scan\w*|"
    r"operat\w+|surgery|started|stopped|given|due|lmp|edd)\W*(?:\w+\W+){0,2}$",
    re.I,
)
_SEPARATED = re.compile(r"\d{8}|.*[/.\-].*[/.\-].*|.*[a-z].*", re.I | re.S)
_LATEST_BIRTH_YEAR = 2015


def find_births(text: str) -> Iterator[Finding]:
    """Yield each date of birth: beside a cue or initials, or so old that it can hardly be anything else."""
    for pattern in (_AFTER_CUE, _BEFORE_CUE, _B_DOT, _INITIALS):
        for match in pattern.finditer(text):
            yield Finding(*match.span("value"), KIND)
    for match in _ANY.finditer(text):
        year = re.search(
            r"(?<!\d)(?:18|19|20)\d{2}(?!\d)|(?<=^\d{4})(?:19|20)\d{2}$|^(?:19|20)\d{2}(?=\d{4}$)", match[0]
        )
        if year is None or int(year[0]) > _LATEST_BIRTH_YEAR or not _SEPARATED.fullmatch(match[0]):
            continue
        if not _DATED.search(text[max(0, match.start() - 40) : match.start()]):
            yield Finding(*match.span("value"), KIND)


def birth_after(text: str, end: int) -> Finding | None:
    """Return the date that follows a person's name which ends at `end`."""
    match = _NEXT.match(text, end)
    return Finding(*match.span("value"), KIND) if match else None


def is_date(value: str) -> bool:
    """Tell whether a run of digits and separators is a date."""
    return re.fullmatch(_DATE, value.strip(), re.I) is not None
