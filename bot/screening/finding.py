"""What every finder yields."""

from __future__ import annotations

from typing import NamedTuple

# Every kind of detail, in human words.
KINDS = (
    "name",
    "date of birth",
    "phone number",
    "e-mail address",
    "address",
    "postcode",
    "record number",
    "NHS or CHI number",
    "social security number",
    "social insurance number",
    "national insurance number",
    "national number",
    "health insurance number",
    "passport number",
    "licence number",
    "card number",
    "bank account number",
    "network address",
    "personal page",
)


class Finding(NamedTuple):
    """A detail: where it stands (characters from 0, the end excluded) and its kind in human words."""

    start: int
    end: int
    kind: str
