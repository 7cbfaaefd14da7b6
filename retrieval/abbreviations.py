"""Abbreviations that a text defines in place: 'long form (SF)' and 'SF (long form)' (pure).

After A. S. Schwartz and M. A. Hearst, A simple algorithm for identifying abbreviation definitions in biomedical
text, Pacific Symposium on Biocomputing 2003: the short form's letters must stand in the long form in their
order, the first of them at the beginning of a word, and the long form is the shortest stretch that has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.english import COMMON_WORDS
from retrieval.terms import STOP_WORDS

Definition = tuple[str, str]
"""(short form, long form), as written."""

MAX_SHORT_CHARS = 10
_PARENTHESIS = re.compile(r"\(([^()]{2,120})\)|\[([^\[\]]{2,120})\]")
_SENTENCE_BREAK = re.compile(r"[.!?:;]\s|\n\s*\n|[|\n]\s*[-*+•]\s|\|")
_QUOTES = "\"'“”‘’„`*_ \t\n"
_ROMAN = re.compile(r"^[IVXivx]{2,}$")
_MARK = re.compile(r"[*_`]+")
_PART = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NO_PHRASE = re.compile(r"[()\[\]|=<>]|//|www\.")
_NO_SHORT_FORMS = STOP_WORDS | {"eg", "ie", "nb", "pdf"}
_NOT_ROMAN = frozenset({"IV", "iv", "VI"})


def defined_in(text: str) -> list[Definition]:
    """Find the abbreviations that a text defines, in its order, each pair once."""
    found: dict[Definition, None] = {}
    plain = _MARK.sub("", text)
    for match in _PARENTHESIS.finditer(plain):
        inside = " ".join(re.split(r"[;,]\s|\s[-–—]\s", match[1] or match[2])[0].strip(_QUOTES).split())
        before = _sentence_before(plain[max(0, match.start() - 300) : match.start()])
        for short, long in _candidates(inside, before):
            if long is not None and _is_definition(short, long):
                found[short, " ".join(long.split())] = None
                break
    return list(found)


def _candidates(inside: str, before: str) -> Iterator[tuple[str, str | None]]:
    if _is_short(inside):
        yield inside, _initials_long_form(inside, before)
        if before.endswith((" ", "\n")):  # log(RT) is no definition
            letters = sum(char.isalnum() for char in inside)
            words = before.split()[-min(letters + 5, letters * 2) :]
            yield inside, _shortest_long_form(inside, " ".join(words))
    preceding = (before.split() or [""])[-1].strip(_QUOTES)
    if _is_short(preceding) and len(inside) > len(preceding):
        yield preceding, _whole_long_form(preceding, inside)


def _sentence_before(text: str) -> str:
    return _SENTENCE_BREAK.split(text)[-1]


def _is_short(text: str) -> bool:
    """Tell whether text may be a short form: two to ten characters, at most two words, a letter."""
    letters = [char for char in text if char.isalpha()]
    return (
        2 <= len(text) <= MAX_SHORT_CHARS
        and len(text.split()) <= 2
        and len(letters) >= 1
        and text[0].isalnum()
        and (not _is_wordlike(text) or (len(text) <= 5 and " " not in text))
        and (text in _NOT_ROMAN or not _ROMAN.match(text))
        and text.replace(".", "").casefold() not in _NO_SHORT_FORMS
        and (not _is_wordlike(text) or text.casefold() not in COMMON_WORDS)
    )


def _is_wordlike(short: str) -> bool:
    """Tell whether a short form is written as any word is: no capital after the first letter, no digit."""
    return not any(char.isupper() or char.isdigit() for char in short[1:])


def _initials_long_form(short: str, before: str) -> str | None:
    """Return the end of `before` whose words begin with the short form's letters, one after the other."""
    letters = short.removesuffix("s") if short[:-1].isupper() else short
    if not letters.isalpha():
        return None
    left = len(letters)
    for part in reversed(list(_PART.finditer(before))):
        if part[0][0].casefold() == letters[left - 1].casefold():
            left -= 1
            if left == 0:
                begin = before.rfind(" ", 0, part.start() + 1) + 1
                return before[begin:].strip(_QUOTES + ",(")
        elif part[0].casefold() not in STOP_WORDS:
            return None
    return None


def _shortest_long_form(short: str, before: str) -> str | None:
    """Return the shortest end of `before` that holds the short form's letters in order; None if none does.

    The first letter begins a word that is no function word.
    """
    place = len(before)
    for index in range(len(short) - 1, -1, -1):
        letter = short[index].casefold()
        if not letter.isalnum():
            continue
        place -= 1
        while place >= 0 and (before[place].casefold() != letter or (index == 0 and not _begins(before, place))):
            place -= 1
        if place < 0:
            return None
    begin = before.rfind(" ", 0, place) + 1
    return before[begin:].strip(_QUOTES + ",(")


def _begins(text: str, place: int) -> bool:
    """Tell whether a content word begins at `place`."""
    if place > 0 and text[place - 1].isalnum():
        return False
    word = _PART.match(text, place)
    return word is None or word[0].casefold() not in STOP_WORDS


def _whole_long_form(short: str, inside: str) -> str | None:
    """Return `inside` if it begins as the short form does and holds its letters in order; None otherwise."""
    if inside[:1].casefold() != short[0].casefold():
        return None
    place = 0
    for letter in short.casefold():
        if letter.isalnum():
            place = inside.casefold().find(letter, place) + 1
            if place == 0:
                return None
    return inside


def _is_definition(short: str, long: str) -> bool:
    parts = [part.casefold() for part in _PART.findall(long)]
    words = [part for part in parts if part not in STOP_WORDS]
    letters = [char for char in short.casefold() if char.isalnum()]
    if not words or len(words) > len(letters) + 1 or len(long) <= len(short) or parts[0] in STOP_WORDS:
        return False
    if short.casefold() in parts or any(
        mark in long for mark in ("(", ")", "[", "]", "|", "=", "<", ">", "//", "www.")
    ):
        return False
    if _is_wordlike(short):  # else a spelling or a way to say it
        return parts[0].startswith(short.casefold()) if len(parts) == 1 else _initials_in_order(letters, parts)
    return not ("," in long and not _initials_in_order(letters, parts))


def _initials_in_order(letters: list[str], parts: list[str]) -> bool:
    initials = iter(part[0] for part in parts)
    return all(letter in initials for letter in letters)
