"""National numbers, cards and accounts, known by their check digits (pure; the checks are python-stdnum's)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

# Length → systems that are digits only; a run of digits that passes a check is that number.
_DIGITS: dict[int, tuple[tuple[str, str], ...]] = {
    9: (("nl.bsn", "national number"), ("ca.sin", "social insurance number"), ("us.ssn", "social security number")),
    10: (("gb.nhs", "NHS or CHI number"), ("cz.rc", "national number")),
    11: (
        ("pl.pesel", "national number"),
        ("no.fodselsnummer", "national number"),
        ("be.nn", "national number"),
        ("br.cpf", "national number"),
        ("de.idnr", "national number"),
        ("ee.ik", "national number"),
        ("hr.oib", "national number"),
        ("tr.tckimlik", "national number"),
        ("au.medicare", "health insurance number"),
    ),
    12: (("in_.aadhaar", "national number"), ("se.personnummer", "national number")),
    13: (("za.idnr", "national number"), ("ro.cnp", "national number"), ("fr.nir", "national number")),
    15: (("fr.nir", "national number"),),
    18: (("cn.ric", "national number"),),
}
_LETTERED: tuple[tuple[str, str], ...] = (
    ("iban", "bank account number"),
    ("us.mbi", "health insurance number"),
    ("it.codicefiscale", "national number"),
    ("es.dni", "national number"),
    ("es.nie", "national number"),
    ("ie.pps", "national number"),
    ("fi.hetu", "national number"),
    ("in_.pan", "national number"),
    ("mx.curp", "national number"),
    ("cn.ric", "national number"),
    ("fr.nir", "national number"),
)
_IBAN_SHAPE = re.compile(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}")


def kind_of_digits(digits: str) -> str | None:
    """Return which number a run of digits is by its check digits; None when it passes no check."""
    for name, kind in _DIGITS.get(len(digits), ()):
        if _valid(name, digits):
            return kind
    return "card number" if 13 <= len(digits) <= 19 and _valid("luhn", digits) else None


def kind_of_token(token: str) -> str | None:
    """Return which number letters and digits (upper case, no gaps) are; None when they pass no check."""
    if _IBAN_SHAPE.fullmatch(token) and sum(character.isdigit() for character in token) >= 10:
        return "bank account number"
    for name, kind in _LETTERED:
        if _valid(name, token):
            return kind
    return None


@cache
def _check(name: str) -> Callable[[str], bool]:
    valid: Callable[[str], bool] = import_module(f"stdnum.{name}").is_valid
    return valid


def _valid(name: str, value: str) -> bool:
    try:
        return _check(name)(value)
    except (ImportError, AttributeError, ValueError, IndexError, KeyError):
        return False
